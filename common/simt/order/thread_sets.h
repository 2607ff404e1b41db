/**
 * @file thread_sets.h
 * @brief Sets of threads of a block, such as the readers of a word, identified by small numbers. The number of a set
 *        with a single thread is the number of that thread. Used by the race check.
 */
#ifndef SIMT_THREAD_SETS_H
#define SIMT_THREAD_SETS_H

#include "machine/device_limits.h"

#include <stdbool.h>
#include <stdint.h>

enum { NUM_THREAD_SETS = 1 << 13, THREAD_SET_NONE = NUM_THREAD_SETS };

/** A set of threads of a block. */
struct thread_set {
    lane_mask warp_mask; /**< warps that have a lane in the set */
    lane_mask lanes[BLOCK_WARPS];
};

/**
 * Prepares for a launch: discards all sets of more than one thread if the numbers are running out. Returns false if
 * memory runs out.
 */
bool simt_thread_sets_begin_launch(void);
/** Returns the set with a number. */
const struct thread_set *simt_thread_set_by_number(unsigned set_number);
/**
 * Returns the number of the set that has one thread more, or one thread less. Returns THREAD_SET_NONE if that set is
 * empty or no number is left.
 */
unsigned simt_thread_set_number_with(unsigned set_number, unsigned thread);
unsigned simt_thread_set_number_without(unsigned set_number, unsigned thread);
/** Returns whether a thread, a number in its block, is in the set. */
static inline bool thread_set_has(const struct thread_set *set, unsigned thread)
{
    return set->lanes[thread / WARP_LANES] >> thread % WARP_LANES & 1;
}

/** Adds a thread to the set, or removes it, in place. */
static inline void thread_set_insert(struct thread_set *set, unsigned thread)
{
    set->warp_mask |= 1u << thread / WARP_LANES;
    set->lanes[thread / WARP_LANES] |= lane_bit(thread % WARP_LANES);
}

static inline void thread_set_remove(struct thread_set *set, unsigned thread)
{
    set->lanes[thread / WARP_LANES] &= ~lane_bit(thread % WARP_LANES);
    if (set->lanes[thread / WARP_LANES] == 0)
        set->warp_mask &= ~(1u << thread / WARP_LANES);
}

/**
 * A cache of simt_thread_set_number_with() with a few results per set. It helps because the same threads usually read
 * many words.
 */
enum { THREAD_SET_WAYS = 8 };
struct cached_addition {
    uint16_t thread, set_number_with_thread; /**< 0 if there is no entry */
};
extern struct cached_addition simt_cached_additions[NUM_THREAD_SETS][THREAD_SET_WAYS];

/** Returns the cache entry of a set and a thread. */
static inline struct cached_addition *cached_addition_at(unsigned set_number, unsigned thread)
{
    return &simt_cached_additions[set_number][(thread ^ thread >> 3 ^ thread >> 6) % THREAD_SET_WAYS];
}

/**
 * Returns the number of the set with a thread added, or 0 if it is not in the cache, so that
 * simt_thread_set_number_with() must be called.
 */
static inline unsigned thread_set_cached_number_with_or_0(unsigned set_number, unsigned thread)
{
    const struct cached_addition *const grown = cached_addition_at(set_number, thread);

    return grown->thread == thread ? grown->set_number_with_thread : 0;
}

#endif
