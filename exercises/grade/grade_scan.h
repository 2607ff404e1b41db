/** @file grade_scan.h  What graders of exclusive scans share: lists of counts, and a look at every offset. */
#ifndef GRADE_SCAN_H
#define GRADE_SCAN_H

#include "grade/grade.h"

/** Finds where groups begin: `counts` [num_lists, num_experts], `offsets` [num_lists, num_experts + 1], each list's total last. */
typedef cudaError_t grade_scan_launch(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets);

/** How a case fills one list. */
typedef void grade_scan_fill(struct random *random, int32_t *counts, int num_experts);

grade_scan_fill grade_scan_small; /**< 1 to 99 */
grade_scan_fill grade_scan_zero;
grade_scan_fill grade_scan_one; /**< everything goes to one expert */

/** Launches on lists filled so, and fails at the first offset that is not the sum of the counts before it. */
void grade_scan(struct grade *grade, grade_scan_launch *launch, int num_lists, int num_experts, grade_scan_fill *fill);

#endif
