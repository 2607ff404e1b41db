/** @file exercise.h  01_group_score: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Finds each group's score: the sum of the two largest of its experts' choices.
 *
 * Equal choices count twice. An expert whose choice is NaN is ignored; if fewer than two choices remain, -infinity
 * replaces each missing one. If the two choices are +infinity and -infinity, whose sum is NaN, the score is -infinity.
 *
 * @param choice             [num_tokens, num_expert_group, experts_per_group]; may hold infinities and NaN
 * @param num_tokens         at least 1
 * @param num_expert_group   at least 1
 * @param experts_per_group  at least 1
 * @param group_scores       [num_tokens, num_expert_group]
 */
cudaError_t sum_two_largest_per_group_launch(const float *choice, int num_tokens, int num_expert_group,
                                             int experts_per_group, float *group_scores);

#ifdef __cplusplus
}
#endif

#endif
