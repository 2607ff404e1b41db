/** @file chapters/14a_align_bit_ranks/few_ids.h The condition under which chapter 14a's kernels are used. */
#ifndef ALIGN_FEW_IDS_H
#define ALIGN_FEW_IDS_H

#include "harness/align/align.h"

// [is_few]
/**
 * Returns whether the kernels that rank ids by bits handle this problem. These kernels write each group in ascending
 * order.
 */
static inline bool align_is_few(const struct align_problem *problem)
{
    return problem->kernel == ALIGN_KERNEL_AUTO ? problem->numel <= 4096
                                                : problem->kernel == ALIGN_KERNEL_SMALL || problem->numel == 0;
}
// [is_few]

#endif
