/** @file exercise.h  19_ranks_by_votes: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32, NUM_GROUPS = 8 };

/**
 * Ranks each token's groups. A group's rank is the number of groups with a larger score, or with an equal score and a
 * lower number.
 *
 * @param scores      [num_tokens, 8]; no NaN
 * @param num_tokens  at least 1
 * @param ranks       [num_tokens, 8]: 0 for the best group, 7 for the last
 */
cudaError_t rank_groups_best_first_launch(const float *scores, int num_tokens, int *ranks);

#ifdef __cplusplus
}
#endif

#endif
