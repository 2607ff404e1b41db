/** @file main.c  Chapter 16b: the layer in one launch, with its matrix products computed by warpgroups. */
#include "harness/moe/moe.h"

/**
 * Returns the reason why a problem is unsupported, or NULL if it is supported. The limit is that of the fallback,
 * chapter 11b's layer.
 */
static const char *unsupported_reason(const struct moe_problem *problem)
{
    if (problem->block_size % 16 != 0)
        return "--block-size: not a multiple of 16; a product takes 16, 32, ... tokens of one expert";
    return NULL;
}

/** Returns 32 if experts have fewer than 16 tokens on average, otherwise 192. */
static int block_size(const struct moe_problem *problem)
{
    return problem->num_tokens * problem->topk < 16 * (int64_t)problem->num_experts ? 32 : 192;
}

/** Returns the size of tiles.cuh's counters in bytes: four counters per launch, and one for each block of tokens. */
static size_t workspace_bytes(const struct moe_problem *problem)
{
    return (4 + (size_t)(problem->capacity / problem->block_size)) * sizeof(int32_t);
}

/** Returns the block size of chapter 16a, in which a tile has one block of tokens. */
static int block_size_before(const struct moe_problem *problem)
{
    (void)problem;
    return 16;
}

int main(int argc, char **argv)
{
    static const struct moe_chapter chapter = {
        .implementation = {.name = "16b_layer_warpgroup_products",
                           .own_kernels = {"layer_kernel"},
                           .fallback = "chapter 11b's; this chapter's is for bf16, multiples of 128 as --hidden-size "
                                       "and of 64 as --intermediate-size, and blocks of up to 192",
                           .needs = {.min_compute_capability = 90,
                                     .requires_exact_capability = true,
                                     .feature_name = "bulk copies, and products of warpgroups (wgmma)"},
                           .unsupported_reason = unsupported_reason,
                           .block_size = block_size,
                           .workspace_bytes = workspace_bytes,
                           .workspace_must_be_zeroed = true,
                           .bench_max_tokens = 16384,
                           .launch = moe_launch},
        .previous = {.name = "16a_layer_bulk_copies",
                     .block_size = block_size_before,
                     .workspace_bytes = workspace_bytes,
                     .workspace_must_be_zeroed = true,
                     .bench_max_tokens = 64,
                     .launch = moe_launch_previous},
    };
    return moe_main(argc, argv, &chapter);
}
