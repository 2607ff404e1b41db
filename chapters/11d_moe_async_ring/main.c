/** @file main.c  Chapter 11d: a ring of asynchronous copies. */
#include "harness/moe/moe.h"

static const char *unsupported_reason(const struct moe_problem *problem)
{
    if (problem->dtype != DTYPE_BF16)
        return "--dtype: not bf16; the kernel multiplies bf16 on tensor cores, which have no f32";
    if (problem->hidden_size % 64 != 0)
        return "--hidden-size: not a multiple of 64; a step is 64 elements, and rows are copied in pieces of 16 bytes";
    if (problem->intermediate_size % 64 != 0)
        return "--intermediate-size: not a multiple of 64; a step is 64 elements, and rows are copied in pieces of 16 "
               "bytes";
    if (problem->block_size % 16 != 0)
        return "--block-size: not a multiple of 16; a warp loads 16 tokens of one expert at once";
    return NULL;
}

/**
 * Returns 16 if experts have fewer than 16 tokens on average, else 192; tiles are only as wide as their tokens require.
 */
static int block_size(const struct moe_problem *problem)
{
    return problem->num_tokens * problem->topk < 16 * (int64_t)problem->num_experts ? 16 : 192;
}

int main(int argc, char **argv)
{
    static const struct moe_chapter chapter = {
        .implementation = {.name = "11d_moe_async_ring",
                           .needs = {.min_compute_capability = 80,
                                     .feature_name = "products of bf16 on tensor cores, m16n8k16"},
                           .unsupported_reason = unsupported_reason,
                           .block_size = block_size,
                           .bench_max_tokens = 16384,
                           .launch = moe_launch},
        .previous = {.name = "11c_moe_tensor_cores", .bench_max_tokens = 4096, .launch = moe_launch_previous},
    };
    return moe_main(argc, argv, &chapter);
}
