/**
 * @file vector_clocks.h
 * @brief Vector clocks for a grid: for each of its threads, the epoch up to which somebody knows what it did.
 *
 * A clock is a tree of 32 branches a level: blocks, the warps of a block, the lanes of a warp. Clocks share what they
 * have in common and are counted, so that handing one on costs nothing and joining two costs what is different. NULL
 * knows nothing.
 */
#ifndef SIMT_VECTOR_CLOCKS_H
#define SIMT_VECTOR_CLOCKS_H

#include "machine/device_limits.h"

#include <stdint.h>

struct vector_clock;

/** Whose epoch is raised: a lane's, or that of all threads of a warp or of a block. */
enum clock_level { CLOCK_LANE, CLOCK_WARP, CLOCK_BLOCK };

/** A launch of so many blocks begins: all clocks there were are gone. */
void simt_vector_clocks_reset(uint64_t blocks);

static inline uint64_t clock_thread(uint32_t block, unsigned thread)
{
    return (uint64_t)block * BLOCK_THREADS + thread;
}

/**
 * The same thread, as copies and products see it that go by another way to memory than loads and stores do: what they
 * may see of what it did in a space, 0 or 1. A clock has that in quarters of its branches of their own.
 */
uint64_t simt_vector_clock_by_proxy(uint64_t thread, int space);

struct vector_clock *simt_vector_clock_keep(struct vector_clock *clock);
void simt_vector_clock_drop(struct vector_clock *clock);
/** These two take `clock` over and return what has become of it. */
struct vector_clock *simt_vector_clock_join(struct vector_clock *clock, struct vector_clock *other);
struct vector_clock *simt_vector_clock_raise(struct vector_clock *clock, uint64_t thread, enum clock_level level,
                                             uint32_t epoch);
/** Of all that `news` knows, what is behind a fence between the two ways; takes `clock` over. */
struct vector_clock *simt_vector_clock_join_by_proxy(struct vector_clock *clock, struct vector_clock *news, int space);
/** What the thread did at epochs below this is known. */
uint32_t simt_vector_clock_epoch(const struct vector_clock *clock, uint64_t thread);

#endif
