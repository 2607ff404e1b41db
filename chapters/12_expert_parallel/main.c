/** @file main.c Chapter 12: the layer on several ranks, each with a part of the experts and of the tokens. */
#include "harness/parallel/program.h"
#include "token_paths.h"

/** Returns why a problem is not supported, or NULL: chapter 11d's limits, applied to a rank's slice of the experts. */
static const char *unsupported_reason(const struct moe_problem *problem)
{
    return problem->dtype == DTYPE_BF16 && problem->hidden_size % 64 == 0 && problem->intermediate_size % 64 == 0 &&
                   problem->block_size % 16 == 0
               ? NULL
               : "chapter 11d multiplies bf16 in steps of 64 elements and tiles of 16 tokens";
}

/** Returns chapter 11d's block size: 16 if the average expert has fewer than 16 tokens, else 192. */
static int block_size(const struct moe_problem *problem)
{
    return problem->num_tokens * problem->topk < 16 * (int64_t)problem->num_experts ? 16 : 192;
}

int main(int argc, char **argv)
{
    static const struct parallel_chapter chapter = {
        .name = "12_expert_parallel",
        .align_chapter_name = "chapter 10",
        .max_align_experts = 12255, /* each expert needs a counter in shared memory */
        .align_workspace_bytes = align_sector_spaced_offsets_bytes,
        .expert_implementation = {.name = "11d_moe_async_ring",
                                  .needs = {.min_compute_capability = 80,
                                            .feature_name = "products of bf16 on tensor cores, m16n8k16"},
                                  .unsupported_reason = unsupported_reason,
                                  .block_size = block_size,
                                  .launch = moe_launch},
        .fallback_implementation = {.name = "11a_moe_naive", .launch = moe_launch_previous},
        .run_layer =
            {[DISPATCH_BROADCAST] = run_layer_with_broadcast, [DISPATCH_ALL_TO_ALL] = run_layer_with_all_to_all},
    };
    return parallel_main(argc, argv, &chapter);
}
