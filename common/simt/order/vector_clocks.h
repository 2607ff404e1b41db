/**
 * @file vector_clocks.h
 * @brief Vector clocks for a grid: for each thread, the epoch below which its accesses are known. Used by
 *        happens_before.c.
 *
 * A clock is a tree over blocks, the warps of a block and the lanes of a warp; each node has as many branches as a warp
 * has lanes. Clocks share identical subtrees and count references, so that a copy takes constant time and a join visits
 * only the subtrees that differ. NULL is the empty clock.
 */
#ifndef SIMT_VECTOR_CLOCKS_H
#define SIMT_VECTOR_CLOCKS_H

#include "machine/device_limits.h"

#include <stdint.h>

struct vector_clock;

/** The threads whose epoch is raised: one lane, or all threads of a warp or of a block. */
enum vector_clock_level { CLOCK_LANE, CLOCK_WARP, CLOCK_BLOCK };

/** Discards all clocks, and prepares for a launch of `num_blocks` blocks. */
void simt_vector_clocks_reset(uint64_t num_blocks);

/** Number of branches of a node; two levels together have one branch per thread of a block. */
enum { CLOCK_BRANCH_BITS = WARP_LANES == 32 ? 5 : 6, CLOCK_BRANCHES = 1 << CLOCK_BRANCH_BITS };

/** Returns the number under which a clock stores a thread of a block. */
static inline uint64_t vector_clock_thread_number(uint32_t block, unsigned thread)
{
    return (uint64_t)block * CLOCK_BRANCHES * CLOCK_BRANCHES + thread;
}

/**
 * Returns a second number for a thread, that of a pseudo-thread, which represents the asynchronous proxy of bulk copies
 * and warpgroup products: under this number, a clock stores the epoch below which the proxy may see the thread's
 * accesses to a space, 0 or 1. These epochs are in separate quarters of the clock's branches.
 */
uint64_t simt_pseudo_thread_of_async_proxy(uint64_t thread, int space);

/**
 * Returns the number of a pseudo-thread, which represents the threads of the launches that the current launch may
 * overlap.
 */
uint64_t simt_pseudo_thread_of_overlapped_launches(void);

/** Counts another reference to a clock, which may be NULL, and returns the clock. */
struct vector_clock *simt_vector_clock_add_reference(struct vector_clock *clock);
/** Drops a reference to a clock, which may be NULL, and frees the clock if it was the last one. */
void simt_vector_clock_drop_reference(struct vector_clock *clock);
/**
 * Joins `other` into `clock`. Like simt_vector_clock_advance(), takes over the reference to `clock` and returns the new
 * clock.
 */
struct vector_clock *simt_vector_clock_join(struct vector_clock *clock, struct vector_clock *other);
/**
 * Sets the epoch below which a clock knows the accesses of one lane, or of all threads of its warp or block, to `epoch`
 * if that is later.
 */
struct vector_clock *simt_vector_clock_advance(struct vector_clock *clock, uint64_t thread,
                                               enum vector_clock_level level, uint32_t epoch);
/**
 * Joins `other` into the asynchronous proxy's part of `clock` for a space, as a proxy fence does. Takes over the
 * reference to `clock` and returns the new clock.
 */
struct vector_clock *simt_vector_clock_join_into_async_proxy(struct vector_clock *clock, struct vector_clock *other,
                                                             int space);
/** Returns the epoch below which the accesses of a thread are known. */
uint32_t simt_vector_clock_epoch(const struct vector_clock *clock, uint64_t thread);

#endif
