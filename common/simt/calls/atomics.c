/**
 * @file atomics.c
 * @brief The atomic operations, fences and clocks declared in device_calls.h. An atomic can be checked, recorded and
 *        executed in a single step, because only one lane runs at a time.
 */
#include "device_calls.h"
#include "kernel_calls.h"
#include "machine/turns.h"
#include "order/happens_before.h"
#include "small_floats.h"

#include <string.h>

static float add_float(float a, float b)
{
    return a + b;
}

static uint16_t apply16(enum simt_atomic_op op, uint16_t old, uint16_t operand, uint16_t compare)
{
    switch (op) {
    case SIMT_ATOMIC_ADD_HALF:
        return float_to_half_bits(half_bits_to_float(old) + half_bits_to_float(operand));
    case SIMT_ATOMIC_ADD_BFLOAT16:
        return float_to_bfloat16_bits(bfloat16_bits_to_float(old) + bfloat16_bits_to_float(operand));
    case SIMT_ATOMIC_COMPARE_EXCHANGE:
        return old == compare ? operand : old;
    default:
        return old;
    }
}

static uint32_t add_pair(enum simt_atomic_op op, uint32_t old, uint32_t operand)
{
    return apply16(op, (uint16_t)old, (uint16_t)operand, 0) |
           (uint32_t)apply16(op, (uint16_t)(old >> 16), (uint16_t)(operand >> 16), 0) << 16;
}

static uint32_t apply32(enum simt_atomic_op op, uint32_t old, uint32_t operand, uint32_t compare)
{
    float a;
    float b;

    switch (op) {
    case SIMT_ATOMIC_ADD:
        return old + operand;
    case SIMT_ATOMIC_MIN:
        return operand < old ? operand : old;
    case SIMT_ATOMIC_MAX:
        return operand > old ? operand : old;
    case SIMT_ATOMIC_MIN_SIGNED:
        return (int32_t)operand < (int32_t)old ? operand : old;
    case SIMT_ATOMIC_MAX_SIGNED:
        return (int32_t)operand > (int32_t)old ? operand : old;
    case SIMT_ATOMIC_AND:
        return old & operand;
    case SIMT_ATOMIC_OR:
        return old | operand;
    case SIMT_ATOMIC_XOR:
        return old ^ operand;
    case SIMT_ATOMIC_EXCHANGE:
        return operand;
    case SIMT_ATOMIC_COMPARE_EXCHANGE:
        return old == compare ? operand : old;
    case SIMT_ATOMIC_INCREMENT:
        return old >= operand ? 0 : old + 1;
    case SIMT_ATOMIC_DECREMENT:
        return old == 0 || old > operand ? operand : old - 1;
    case SIMT_ATOMIC_ADD_FLOAT:
        memcpy(&a, &old, sizeof a);
        memcpy(&b, &operand, sizeof b);
        a = add_float(a, b);
        memcpy(&old, &a, sizeof old);
        return old;
    case SIMT_ATOMIC_ADD_HALF2:
        return add_pair(SIMT_ATOMIC_ADD_HALF, old, operand);
    case SIMT_ATOMIC_ADD_BFLOAT162:
        return add_pair(SIMT_ATOMIC_ADD_BFLOAT16, old, operand);
    default:
        break;
    }
    return old;
}

static uint64_t apply64(enum simt_atomic_op op, uint64_t old, uint64_t operand, uint64_t compare)
{
    double a;
    double b;

    switch (op) {
    case SIMT_ATOMIC_ADD:
        return old + operand;
    case SIMT_ATOMIC_MIN:
        return operand < old ? operand : old;
    case SIMT_ATOMIC_MAX:
        return operand > old ? operand : old;
    case SIMT_ATOMIC_MIN_SIGNED:
        return (int64_t)operand < (int64_t)old ? operand : old;
    case SIMT_ATOMIC_MAX_SIGNED:
        return (int64_t)operand > (int64_t)old ? operand : old;
    case SIMT_ATOMIC_AND:
        return old & operand;
    case SIMT_ATOMIC_OR:
        return old | operand;
    case SIMT_ATOMIC_XOR:
        return old ^ operand;
    case SIMT_ATOMIC_EXCHANGE:
        return operand;
    case SIMT_ATOMIC_COMPARE_EXCHANGE:
        return old == compare ? operand : old;
    case SIMT_ATOMIC_ADD_DOUBLE:
        memcpy(&a, &old, sizeof a);
        memcpy(&b, &operand, sizeof b);
        a += b;
        memcpy(&old, &a, sizeof old);
        return old;
    default:
        break;
    }
    return old;
}

/**
 * Records the release/acquire edges of an atomic. A failed compare-and-swap has written nothing and releases nothing.
 */
static void complete_atomic(const void *address, unsigned bytes, enum simt_atomic_op op, bool failed)
{
    if (simt_running.lane)
        simt_order_record_strong_access((uintptr_t)address, bytes, op != SIMT_ATOMIC_COMPARE_EXCHANGE || !failed, true);
}

/** The value of clock64(): it advances with each call, and by the duration of each sleep. */
static long long cycles;
enum { CYCLES_OF_A_CALL = 32 };

/** Ends the turn of the lane's warp, because a sleeping thread is usually waiting for other threads. */
void simt_sleep(unsigned nanoseconds)
{
    enum { POLLS_OF_A_TURN = 16 }; /* number of polls added if a sleep ends a turn */

    if (!simt_running.lane)
        simt_reject_host_call("__nanosleep", SIMT_RETURN_ADDRESS());
    simt_launch_progress.num_polls_since_progress += simt_launch_progress.num_polls_since_progress > 0 ? POLLS_OF_A_TURN
                                                                                                       : 0;
    cycles += nanoseconds;
    simt_running.has_called_nanosleep = true;
    simt_lane_suspend();
}

/* An atomic takes longer than a volatile load, so an atomic that changes nothing counts as several polls. */
enum { POLLS_OF_AN_ATOMIC = 3 };

/**
 * Returns the number of bytes that an atomic updates at once: those of one element of a pair, or else the whole word.
 */
static unsigned element_bytes(enum simt_atomic_op op, unsigned bytes)
{
    return op == SIMT_ATOMIC_ADD_HALF2 || op == SIMT_ATOMIC_ADD_BFLOAT162 ? bytes / 2 : bytes;
}

#define ATOMIC(bits)                                                                                              \
    uint##bits##_t simt_atomic##bits(void *address, enum simt_atomic_op op, int in_block, uint##bits##_t operand, \
                                     uint##bits##_t compare)                                                      \
    {                                                                                                             \
        uint##bits##_t *word = address;                                                                           \
                                                                                                                  \
        if (simt_running.lane && simt_turn_ends_before_atomic())                                                  \
            simt_sleep(0);                                                                                        \
        if (op == SIMT_ATOMIC_COMPARE_EXCHANGE)                                                                   \
            simt_exempt_load_before_cas_from_races(address, sizeof *word);                                        \
        if (simt_running.lane)                                                                                    \
            simt_record_possible_poll(address);                                                                   \
        simt_check_and_record_atomic(address, sizeof *word, element_bytes(op, sizeof *word), in_block,            \
                                     op != SIMT_ATOMIC_EXCHANGE, SIMT_RETURN_ADDRESS());                          \
        const uint##bits##_t old = *word;                                                                         \
                                                                                                                  \
        *word = apply##bits(op, old, operand, compare);                                                           \
        simt_launch_progress.num_polls_since_progress =                                                           \
            *word == old ? simt_launch_progress.num_polls_since_progress + POLLS_OF_AN_ATOMIC : 0;                \
        complete_atomic(address, sizeof *word, op, old != compare);                                               \
        return old;                                                                                               \
    }
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void simt_fence(int in_block)
{
    if (simt_running.lane)
        simt_order_record_fence(in_block);
}

long long simt_clock(void)
{
    return cycles += CYCLES_OF_A_CALL;
}

long long simt_clock_or_host(long long host_clock)
{
    return simt_running.lane ? simt_clock() : host_clock;
}
