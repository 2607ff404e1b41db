/** @file moe/workspace.h  A workspace in which the blocks of a launch tell each other how far they are. */
#ifndef MOE_WORKSPACE_H
#define MOE_WORKSPACE_H

#include "harness/moe/moe.h"

/** What the program hands to every step's launch: most know the first member only. */
struct moe_buffers_and_workspace {
    struct moe_buffers buffers;
    /** [moe_workspace_counters()] Zeros before the first launch, then what the last one left; of one stream. */
    int32_t *counters;
};

/** One for each block of places, and four for all. */
static inline int64_t moe_workspace_counters(const struct moe_problem *problem)
{
    return 4 + problem->capacity / problem->block_size;
}

#endif
