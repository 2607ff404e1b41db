/** @file chapters/14a_align_bit_ranks/few_ids.h  Which problems have few ids. */
#ifndef ALIGN_FEW_IDS_H
#define ALIGN_FEW_IDS_H

#include "harness/align/align.h"

// [is_few]
/** Whether the kernels that rank by bits take this problem. Their groups ascend, chapter 10's need not. */
static inline bool align_is_few(const struct align_problem *problem)
{
    return problem->kernel == ALIGN_KERNEL_AUTO ? problem->numel <= 4096
                                                : problem->kernel == ALIGN_KERNEL_SMALL || problem->numel == 0;
}
// [is_few]

#endif
