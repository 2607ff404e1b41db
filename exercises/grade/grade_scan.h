/**
 * @file grade_scan.h
 * @brief Helpers for graders of scans: lists of counts, and a check of every offset of their exclusive scans.
 */
#ifndef GRADE_SCAN_H
#define GRADE_SCAN_H

#include "grade.h"

/** Fills `counts` [num_experts]. */
typedef void grade_fill_counts_function(struct random *random, int32_t *counts, int num_experts);

grade_fill_counts_function grade_fill_counts_random;   /**< 0 to 999 */
grade_fill_counts_function grade_fill_counts_positive; /**< 1 to 99: no group is empty */
grade_fill_counts_function grade_fill_counts_equal;    /**< one count, 1 to 1,000, for all experts */
grade_fill_counts_function grade_fill_counts_zero;
grade_fill_counts_function grade_fill_counts_of_one_expert; /**< one expert has all ids, 1 to 999 */

/**
 * The type of the learner's launch function, which computes where groups begin. `counts` is [num_lists, num_experts];
 * `offsets` is [num_lists, num_experts + 1], and the last offset of each list is the list's total.
 */
typedef cudaError_t grade_scan_launch_function(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets);

/** Scans lists filled by `fill`, and fails at the first offset that is not the sum of the counts before it. */
void grade_check_scan(struct grade_context *grade, grade_scan_launch_function *launch, int num_lists, int num_experts,
                      grade_fill_counts_function *fill);

#endif
