/** @file main.c  Chapter 11c: a warp multiplies matrices on tensor cores. */
#include "harness/moe/moe.h"

static const char *unsupported_reason(const struct moe_problem *problem)
{
    if (problem->dtype != DTYPE_BF16)
        return "--dtype: not bf16; the kernel multiplies bf16 on tensor cores, which have no f32";
    if (problem->hidden_size % 64 != 0)
        return "--hidden-size: not a multiple of 64; chapter 11d, which is timed beside this one, has steps of 64 "
               "elements";
    if (problem->intermediate_size % 64 != 0)
        return "--intermediate-size: not a multiple of 64; chapter 11d, which is timed beside this one, has steps of "
               "64 "
               "elements";
    if (problem->block_size % 16 != 0)
        return "--block-size: not a multiple of 16; a tile has 16 tokens of one expert";
    return NULL;
}

/** Returns 16: this chapter's only tile covers 16 tokens. */
static int block_size(const struct moe_problem *problem)
{
    (void)problem;
    return 16;
}

int main(int argc, char **argv)
{
    static const struct moe_chapter chapter = {
        .implementation = {.name = "11c_moe_tensor_cores",
                           .needs = {.min_compute_capability = 80,
                                     .feature_name = "products of bf16 on tensor cores, m16n8k16"},
                           .unsupported_reason = unsupported_reason,
                           .block_size = block_size,
                           .bench_max_tokens = 4096,
                           .launch = moe_launch},
        .previous = {.name = "11b_moe_tiled", .bench_max_tokens = 4096, .launch = moe_launch_previous},
    };
    return moe_main(argc, argv, &chapter);
}
