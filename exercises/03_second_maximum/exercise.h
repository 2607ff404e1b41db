/** @file exercise.h  03_second_maximum: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32 };

/** The two largest values of a group; if the largest occurs twice, `first` and `second` are equal. */
struct two_largest {
    float first, second;
};

/**
 * Finds the two largest choices of each group of experts.
 *
 * @param choice             [num_groups, experts_per_group]; may hold infinities, but no NaN
 * @param num_groups         number of groups of all tokens, at least 1
 * @param experts_per_group  1 to 32, one per lane; if it is 1, the second largest is -infinity
 * @param best               [num_groups, 32]: the result from each lane of the group's warp; all 32 are equal
 */
cudaError_t two_largest_launch(const float *choice, int num_groups, int experts_per_group, struct two_largest *best);

#ifdef __cplusplus
}
#endif

#endif
