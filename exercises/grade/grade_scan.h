/** @file grade_scan.h  What graders of exclusive scans share: a look at every offset of every list. */
#ifndef GRADE_SCAN_H
#define GRADE_SCAN_H

#include "grade/grade.h"
#include "grade/grade_fill.h"

/** Finds where groups begin: `counts` [num_lists, num_experts], `offsets` [num_lists, num_experts + 1], each list's total last. */
typedef cudaError_t grade_scan_launch(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets);

/** Launches on lists filled so, and fails at the first offset that is not the sum of the counts before it. */
void grade_scan(struct grade *grade, grade_scan_launch *launch, int num_lists, int num_experts, grade_fill *fill);

#endif
