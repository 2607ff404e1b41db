/**
 * @file thread_sets.h
 * @brief Sets of threads of a block, by small numbers: who has read a word. A set of one has its thread's number.
 */
#ifndef SIMT_THREAD_SETS_H
#define SIMT_THREAD_SETS_H

#include "machine/device_limits.h"

#include <stdbool.h>
#include <stdint.h>

enum { THREAD_SETS = 1 << 13, THREAD_SET_NONE = THREAD_SETS };

struct thread_set {
    uint32_t warps; /**< those that have a lane in it */
    uint32_t lanes[BLOCK_WARPS];
};

/** A launch begins: if the numbers are running out, all sets of more than one are forgotten. False: no memory. */
bool simt_thread_sets_prepare(void);
const struct thread_set *simt_thread_set(unsigned number);
/** The set with a thread more, or one less; THREAD_SET_NONE if that is none, or there is no number left. */
unsigned simt_thread_set_add(unsigned number, unsigned thread);
unsigned simt_thread_set_remove(unsigned number, unsigned thread);
static inline bool thread_set_has(const struct thread_set *set, unsigned thread)
{
    return set->lanes[thread / WARP_LANES] >> thread % WARP_LANES & 1;
}

static inline void thread_set_put(struct thread_set *set, unsigned thread)
{
    set->warps |= 1u << thread / WARP_LANES;
    set->lanes[thread / WARP_LANES] |= 1u << thread % WARP_LANES;
}

static inline void thread_set_take(struct thread_set *set, unsigned thread)
{
    set->lanes[thread / WARP_LANES] &= ~(1u << thread % WARP_LANES);
    if (set->lanes[thread / WARP_LANES] == 0)
        set->warps &= ~(1u << thread / WARP_LANES);
}

/**
 * What simt_thread_set_add() has found before, some for each set: words are read by the same threads again and again.
 */
enum { THREAD_SET_WAYS = 8 };
struct thread_set_grown {
    uint16_t thread, number; /**< the set with this thread more; the number is 0 where nothing is known */
};
extern struct thread_set_grown simt_thread_sets_grown[THREAD_SETS][THREAD_SET_WAYS];

/** Where that of a set and a thread is kept. */
static inline struct thread_set_grown *thread_set_grown_at(unsigned number, unsigned thread)
{
    return &simt_thread_sets_grown[number][(thread ^ thread >> 3 ^ thread >> 6) % THREAD_SET_WAYS];
}

/** The number of the set with a thread more, or 0: ask simt_thread_set_add(). */
static inline unsigned thread_set_next(unsigned number, unsigned thread)
{
    const struct thread_set_grown *const grown = thread_set_grown_at(number, thread);

    return grown->thread == thread ? grown->number : 0;
}

#endif
