/** @file main.c  Chapter 11b: tiles in shared memory, several outputs per thread. */
#include "harness/moe/moe.h"

static const char *unsupported_reason(const struct moe_problem *problem)
{
    if (problem->block_size % 16 != 0)
        return "--block-size: not a multiple of 16; a tile is 16 or 64 rows of one expert";
    return NULL;
}

/**
 * Returns 64 if experts have 32 or more tokens on average, and otherwise 16, because pads would fill most of a 64-row
 * tile.
 */
static int block_size(const struct moe_problem *problem)
{
    return problem->num_tokens * problem->topk >= 32 * (int64_t)problem->num_experts ? 64 : 16;
}

int main(int argc, char **argv)
{
    static const struct moe_chapter chapter = {
        .implementation = {.name = "11b_moe_tiled",
                           .unsupported_reason = unsupported_reason,
                           .block_size = block_size,
                           .bench_max_tokens = 4096,
                           .launch = moe_launch},
        .previous = {.name = "11a_moe_naive", .bench_max_tokens = 512, .launch = moe_launch_previous},
    };
    return moe_main(argc, argv, &chapter);
}
