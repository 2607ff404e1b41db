#include "turns.h"

#include <stdlib.h>
#include <string.h>

static struct turns {
    enum { FORWARD, REVERSE, RANDOM } order;
    uint64_t seed;
    uint64_t round; /**< a hash of the seed and of the number of rounds so far */
} turns;
bool simt_lanes_run_descending;

/** Returns a hash of a number (the finaliser of SplitMix64). */
static uint64_t mix(uint64_t number)
{
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/** Begins the round with the hash `round`, and chooses the direction in which lanes run. */
static void begin_round(uint64_t round)
{
    turns.round = round;
    simt_lanes_run_descending = turns.order == REVERSE || (turns.order == RANDOM && round >> 63);
}

bool simt_turns_read_environment(void)
{
    const char *const text = getenv("SIMT_ORDER");
    char *end = NULL;

    turns.order = !text ? FORWARD : strcmp(text, "reverse") == 0 ? REVERSE : RANDOM;
    turns.seed = 0;
    if (turns.order == RANDOM) {
        if (strncmp(text, "random:", 7) != 0 || text[7] < '0' || text[7] > '9')
            return false;
        turns.seed = strtoull(text + 7, &end, 10);
        if (*end)
            return false;
    }
    begin_round(mix(turns.seed + 1));
    return true;
}

uint64_t simt_turns_begin_round_get_hash(void)
{
    if (turns.order == RANDOM)
        begin_round(mix(turns.round + UINT64_C(0x9e3779b97f4a7c15)));
    return turns.round;
}

uint64_t simt_turns_block_or_warp_at(uint64_t round_hash, uint64_t turn, uint64_t num_blocks_or_warps)
{
    uint64_t stride;

    if (turns.order == FORWARD || num_blocks_or_warps < 2)
        return turn;
    if (turns.order == REVERSE)
        return num_blocks_or_warps - 1 - turn;
    stride = 1 + (round_hash >> 32) % (num_blocks_or_warps - 1);
    while (greatest_common_divisor(stride, num_blocks_or_warps) != 1)
        stride = stride % (num_blocks_or_warps - 1) + 1;
    return (round_hash % num_blocks_or_warps + turn * stride) %
           num_blocks_or_warps; /* turn and stride fit in 32 bits; a larger launch never ends */
}

bool simt_turn_ends_before_atomic(void)
{
    enum { ATOMICS = 4 };

    return turns.order == RANDOM && simt_turns_begin_round_get_hash() % ATOMICS == 0;
}
