/** @file main.c Chapter 08: the scan over the experts uses a tree of partial sums. */
#include "harness/align/align.h"

static const char *unsupported_reason(const struct align_problem *problem)
{
    if (problem->kernel == ALIGN_KERNEL_SMALL && problem->num_experts > 96)
        return "--num-experts: more than 96; with --kernel small, a row of counters for each of 128 threads must fit "
               "in "
               "the 48 KB of shared memory that a block may have; --kernel auto uses the large kernel for them";
    if (problem->num_experts > 2048)
        return "--num-experts: more than 2048; the lowest step of the tree has a thread for every two experts, 1024 "
               "threads";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct align_chapter chapter = {
        .implementation = {.name = "08_align_blelloch",
                           .kernel_switch_ids = {1023},
                           .kernel_switch_experts = {64},
                           .unsupported_reason = unsupported_reason,
                           .capacity = align_worst_case_capacity,
                           .workspace_bytes = align_offsets_bytes,
                           .launch = align_launch},
        .previous = {.name = "07_align_vector_pad",
                     .capacity = align_worst_case_capacity,
                     .workspace_bytes = align_offsets_bytes,
                     .launch = align_launch_previous},
    };
    return align_main(argc, argv, &chapter);
}
