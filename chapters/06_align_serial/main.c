/** @file main.c  Chapter 06: the first version of align, with a serial sum in one thread. */
#include "harness/align/align.h"

static const char *unsupported_reason(const struct align_problem *problem)
{
    if (problem->kernel == ALIGN_KERNEL_SMALL && problem->num_experts > 96)
        return "--num-experts: more than 96; with --kernel small, a row of counters for each of 128 threads must fit "
               "in "
               "the 48 KB of shared memory that a block may have; --kernel auto uses the large kernel for them";
    if (problem->num_experts > 12288)
        return "--num-experts: more than 12288; their counters exceed the 48 KB of shared memory that a block may have";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct align_chapter chapter = {
        .implementation = {.name = "06_align_serial",
                           .kernel_switch_ids = {1023},
                           .kernel_switch_experts = {64},
                           .unsupported_reason = unsupported_reason,
                           .capacity = align_worst_case_capacity,
                           .workspace_bytes = align_offsets_bytes,
                           .launch = align_launch},
    };
    return align_main(argc, argv, &chapter);
}
