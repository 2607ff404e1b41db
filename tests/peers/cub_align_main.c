/** @file cub_align_main.c  Makes align with CUB a program that the chapters' harness checks and times. */
#include "harness/align/align.h"

size_t cub_align_workspace_bytes(const struct align_problem *problem);
cudaError_t cub_align_launch(const struct align_problem *problem, const struct align_buffers *buffers,
                             cudaStream_t stream);

static const char *unsupported_reason(const struct align_problem *problem)
{
    if (problem->kernel == ALIGN_KERNEL_SMALL)
        return "--kernel small: CUB's sort has no kernel for small batches of its own to choose";
    return NULL;
}

/** Returns true: the positions of each expert ascend, because CUB's radix sort is stable. */
static bool ascending(const struct align_problem *problem)
{
    (void)problem;
    return true;
}

int main(int argc, char **argv)
{
    static const struct align_chapter chapter = {
        .implementation = {.name = "cub_align",
                           .unsupported_reason = unsupported_reason,
                           .capacity = align_worst_case_capacity,
                           .workspace_bytes = cub_align_workspace_bytes,
                           .positions_ascend = ascending,
                           .launch = cub_align_launch},
    };
    return align_main(argc, argv, &chapter);
}
