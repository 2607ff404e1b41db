/** @file grade_fill.h  How graders fill the counts of a list of experts. */
#ifndef GRADE_FILL_H
#define GRADE_FILL_H

#include "harness/core/random.h"

/** Fills `counts` [num_experts]. */
typedef void grade_fill(struct random *random, int32_t *counts, int num_experts);

grade_fill grade_fill_random; /**< 0 to 999 */
grade_fill grade_fill_small;  /**< 1 to 99: no group is empty */
grade_fill grade_fill_equal;  /**< the same for all, 1 to 1,000 */
grade_fill grade_fill_zero;
grade_fill grade_fill_one; /**< everything goes to one expert, 1 to 999 */

#endif
