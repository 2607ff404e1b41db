/** @file main.c  Chapter 16a: the layer in one launch, fed by bulk copies. */
#include "harness/moe/moe.h"

/**
 * Returns the reason why a problem is unsupported, or NULL if it is supported. The limit is that of the fallback,
 * chapter 11b's layer.
 */
static const char *unsupported_reason(const struct moe_problem *problem)
{
    if (problem->block_size % 16 != 0)
        return "--block-size: not a multiple of 16; a product takes 16 tokens of one expert";
    return NULL;
}

/** Returns the block size, which is the number of tokens in a tile. */
static int block_size(const struct moe_problem *problem)
{
    (void)problem;
    return 16;
}

/** Returns the size of tiles.cuh's counters in bytes: four counters per launch, and one for each block of tokens. */
static size_t workspace_bytes(const struct moe_problem *problem)
{
    return (4 + (size_t)(problem->capacity / problem->block_size)) * sizeof(int32_t);
}

/** Returns the block size with which chapter 11d is fastest. */
static int block_size_before(const struct moe_problem *problem)
{
    return problem->num_tokens * problem->topk < 16 * (int64_t)problem->num_experts ? 16 : 192;
}

int main(int argc, char **argv)
{
    static const struct moe_chapter chapter = {
        .implementation =
            {.name = "16a_layer_bulk_copies",
             .own_kernels = {"layer_kernel"},
             .fallback =
                 "chapter 11b's; this chapter's is for bf16, sizes that are multiples of 64, and --block-size 16",
             .needs = {.min_compute_capability = 90, .feature_name = "bulk copies"},
             .unsupported_reason = unsupported_reason,
             .block_size = block_size,
             .workspace_bytes = workspace_bytes,
             .workspace_must_be_zeroed = true,
             .bench_max_tokens = 4096,
             .launch = moe_launch},
        .previous = {.name = "11d_moe_async_ring",
                     .block_size = block_size_before,
                     .bench_max_tokens = 64,
                     .launch = moe_launch_previous},
    };
    return moe_main(argc, argv, &chapter);
}
