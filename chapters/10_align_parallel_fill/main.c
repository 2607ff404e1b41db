/** @file main.c Chapter 10: other blocks write the pads while block 0 counts, and every counter has its own sector. */
#include "harness/align/align.h"

static const char *unsupported_reason(const struct align_problem *problem)
{
    if (problem->kernel == ALIGN_KERNEL_SMALL && problem->num_experts > 96)
        return "--num-experts: more than 96; with --kernel small, a row of counters for each of 128 threads must fit "
               "in "
               "the 48 KB of shared memory that a block may have; --kernel auto uses the large kernel for them";
    if (problem->num_experts > 12255)
        return "--num-experts: more than 12255; their counters, a total and 32 sums exceed the 48 KB of shared memory "
               "that a block may have";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct align_chapter chapter = {
        // [program]
        .implementation = {.name = "10_align_parallel_fill",
                           .kernel_switch_ids = {127},
                           .kernel_switch_experts = {8},
                           .unsupported_reason = unsupported_reason,
                           .capacity = align_worst_case_capacity_capped_by_ids,
                           .workspace_bytes = align_sector_spaced_offsets_bytes,
                           .launch = align_launch},
        // [program]
        .previous = {.name = "09_align_warp_scan",
                     .capacity = align_worst_case_capacity,
                     .workspace_bytes = align_offsets_bytes,
                     .launch = align_launch_previous},
    };
    return align_main(argc, argv, &chapter);
}
