/** @file main.c  Chapter 10: nobody in nobody's way: pads and counters apart. */
#include "harness/align.h"

static const char *supports(const struct align_problem *problem)
{
    if (problem->kernel == ALIGN_KERNEL_SMALL && problem->num_experts > 96)
        return "--kernel small: takes at most 96 experts; a row of counters for each of 128 threads exceeds the 48 KB "
               "of "
               "shared memory a block may have";
    if (problem->num_experts > 12287)
        return "--num-experts: more than 12287; a block has 48 KB of shared memory, 4 bytes for each counter and one "
               "for the total";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct align_chapter chapter = {
        .step = {.name = "10_align_parallel_fill",
                 .supports = supports,
                 .capacity = align_capacity_of_few,
                 .workspace_bytes = align_spread_offsets_bytes,
                 .launch = align_launch},
        .before = {.name = "09_align_warp_scan",
                   .capacity = align_capacity,
                   .workspace_bytes = align_offsets_bytes,
                   .launch = align_launch_before},
        .gate = {.name = "05_fused_gate", .launch = gate_launch},
    };
    return align_main(argc, argv, &chapter);
}
