/** @file main.c  Chapter 14a: one launch for up to 4,096 ids, and every group in ascending order. */
#include "few_ids.h"

static const char *unsupported_reason(const struct align_problem *problem)
{
    if (problem->kernel == ALIGN_KERNEL_SMALL && problem->numel > 4096)
        return "--kernel small: more than 4096 ids; a block has all of them, four for each of its threads";
    if (problem->num_experts > 11776)
        return "--num-experts: more than 11776; their counts, and the bits of 4096 ids, exceed the 48 KB of shared "
               "memory that a block may have";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct align_chapter chapter = {
        .implementation =
            {.name = "14a_align_bit_ranks",
             .own_kernels = {"align_warp_kernel", "align_few_kernel"},
             .fallback = "chapter 10's; this chapter's are for up to 4,096 ids, and not used with --kernel large",
             .supports_overlap = true,
             .kernel_switch_ids = {32, 1024, 2048, 4096},
             .kernel_switch_experts = {4, 256},
             .unsupported_reason = unsupported_reason,
             .capacity = align_worst_case_capacity_capped_by_ids,
             .workspace_bytes = align_sector_spaced_offsets_bytes, /* for the fallback to chapter 10's kernels */
             .positions_ascend = align_is_few,
             .launch = align_launch},
        .previous = {.name = "10_align_parallel_fill",
                     .capacity = align_worst_case_capacity_capped_by_ids,
                     .workspace_bytes = align_sector_spaced_offsets_bytes,
                     .launch = align_launch_previous},
    };
    return align_main(argc, argv, &chapter);
}
