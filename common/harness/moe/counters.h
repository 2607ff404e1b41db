/** @file moe/counters.h  A workspace in which the blocks of a launch tell each other how far they are. */
#ifndef MOE_COUNTERS_H
#define MOE_COUNTERS_H

#include "harness/moe/moe.h"

/** What the program hands to every step's launch: most know the first member only. */
struct moe_counted_buffers {
    struct moe_buffers buffers;
    int32_t
        *counters; /**< [moe_counters()] zeros before the first launch, then what the last one left; of one stream */
};

/** One for each block of places, and four for all. */
static inline int64_t moe_counters(const struct moe_problem *problem)
{
    return 4 + problem->capacity / problem->block_size;
}

#endif
