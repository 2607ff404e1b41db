/** @file main.c  Chapter 17: the kernels of a decoding step, each of which starts before the previous one has ended. */
#include "../14b_align_published_counts/exchange.h"
#include "harness/decode/decode.h"

#include <limits.h>

/**
 * Returns the reason why a problem is unsupported, or NULL if it is supported. The limits are the router's and those of
 * chapters 13c, 14b and 16b.
 */
static const char *unsupported_reason(const struct decode_problem *problem)
{
    const int groups = problem->gate.num_expert_group;

    if (problem->layer.dtype != DTYPE_BF16)
        return "--dtype: not bf16; the router multiplies chunks of 8 values of 2 bytes";
    if (problem->layer.hidden_size % 8 != 0 || problem->layer.hidden_size > 8192)
        return "--hidden-size: not a multiple of 8 up to 8192; a thread keeps its part of a row in registers";
    if (groups > 32 || (groups & (groups - 1)) != 0)
        return "--num-expert-group: not a power of two up to 32; a token's groups are lanes of one butterfly";
    if (problem->layer.num_experts / groups > 32)
        return "--num-experts: more than 32 experts in a group; a thread keeps them in 32 registers; give more groups "
               "(--num-expert-group: at least a 32nd of the experts)";
    if (problem->layer.num_experts > 2048)
        return "--num-experts: more than 2048; align's counts would need over 73 KB of a block's shared memory";
    if (problem->layer.topk > 32)
        return "--topk: more than 32; a token has room for as many choices";
    if (problem->layer.num_tokens > USHRT_MAX)
        return "--num-tokens: more than 65535; a decoding step has a few hundred";
    return NULL;
}

/** Returns chapter 16b's block size: 32 if an expert has fewer than 16 tokens on average, otherwise 192. */
static int block_size(const struct moe_problem *problem)
{
    return problem->num_tokens * problem->topk < 16 * (int64_t)problem->num_experts ? 32 : 192;
}

/** Returns the size of chapter 16b's counters in bytes: four per launch, and one for each block of rows. */
static size_t workspace_bytes(const struct moe_problem *problem)
{
    return (4 + (size_t)(problem->capacity / problem->block_size)) * sizeof(int32_t);
}

int main(int argc, char **argv)
{
    static const struct decode_chapter chapter = {
        .name = "17_overlapping_launches",
        .needs = {.min_compute_capability = 90,
                  .requires_exact_capability = true,
                  .feature_name = "launches that overlap, and products of warpgroups (wgmma)"},
        .unsupported_reason = unsupported_reason,
        .layer = {.name = "16b_layer_warpgroup_products",
                  .block_size = block_size,
                  .workspace_bytes = workspace_bytes,
                  .workspace_must_be_zeroed = true},
        .align = {.name = "14b_align_published_counts",
                  .workspace_bytes = align_exchange_bytes,
                  .workspace_must_be_zeroed = true},
        .launch = decode_launch,
    };
    return decode_main(argc, argv, &chapter);
}
