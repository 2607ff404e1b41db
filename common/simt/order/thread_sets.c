/**
 * @file thread_sets.c
 * @brief Stores each set of threads once. Sets are looked up by their members, or by the set to which a thread is
 *        added.
 */
#include "thread_sets.h"

#include "machine/pages.h"

#include <string.h>

enum { SLOTS = 4 * NUM_THREAD_SETS };

struct cached_addition simt_cached_additions[NUM_THREAD_SETS][THREAD_SET_WAYS];

static struct thread_set *sets;
static unsigned count;
static uint16_t slots[SLOTS]; /**< hash table: the numbers of the sets of several threads, by members; 0 if free */

bool simt_thread_sets_begin_launch(void)
{
    if (!sets) {
        sets = pages_map(NUM_THREAD_SETS * sizeof *sets);
        if (!sets)
            return false;
        for (count = 0; count < BLOCK_THREADS; count++) {
            sets[count].warp_mask = 1u << count / WARP_LANES;
            sets[count].lanes[count / WARP_LANES] = lane_bit(count % WARP_LANES);
        }
    }
    if (count > NUM_THREAD_SETS / 2) {
        memset(simt_cached_additions, 0, count * sizeof *simt_cached_additions);
        memset(slots, 0, sizeof slots);
        count = BLOCK_THREADS;
    }
    return true;
}

const struct thread_set *simt_thread_set_by_number(unsigned set_number)
{
    return &sets[set_number];
}

/**
 * Returns the number of a set; a set that is not stored yet gets a new number. Returns THREAD_SET_NONE if the set is
 * empty or no number is left.
 */
static unsigned number_of(const struct thread_set *set)
{
    uint64_t hash = set->warp_mask;

    if ((set->warp_mask & (set->warp_mask - 1)) == 0) {
        const lane_mask lanes = set->warp_mask ? set->lanes[lowest_lane(set->warp_mask)] : 0;

        if (lanes == 0)
            return THREAD_SET_NONE;
        if ((lanes & (lanes - 1)) == 0)
            return lowest_lane(set->warp_mask) * WARP_LANES + lowest_lane(lanes);
    }
    FOR_EACH_LANE (warp, set->warp_mask)
        hash = (hash ^ set->lanes[warp]) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t slot = hash >> 40;; slot++) {
        uint16_t *number = &slots[slot % SLOTS];

        if (*number && memcmp(&sets[*number], set, sizeof *set) == 0)
            return *number;
        if (*number)
            continue;
        if (count == NUM_THREAD_SETS)
            return THREAD_SET_NONE;
        sets[count] = *set;
        *number = (uint16_t)count;
        return count++;
    }
}

unsigned simt_thread_set_number_with(unsigned set_number, unsigned thread)
{
    struct thread_set set = sets[set_number];

    thread_set_insert(&set, thread);
    const unsigned grown = number_of(&set);

    if (grown != THREAD_SET_NONE)
        *cached_addition_at(set_number, thread) = (struct cached_addition){(uint16_t)thread, (uint16_t)grown};
    return grown;
}

unsigned simt_thread_set_number_without(unsigned set_number, unsigned thread)
{
    struct thread_set set = sets[set_number];

    thread_set_remove(&set, thread);
    return number_of(&set);
}
