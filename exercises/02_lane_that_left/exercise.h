/** @file exercise.h  02_lane_that_left: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32, MAX_GROUPS = 32, NO_EXPERT = 0x7fffffff };

/** A candidate for a maximum: a value and the expert to which it belongs. */
struct candidate {
    float value;
    int id;
};

/**
 * Finds each token's best expert among the experts of its best groups. A group's score is the sum of its two largest
 * choices; the topk_group groups with the largest scores are kept. Among groups with equal scores, lower-numbered ones
 * are kept first; among experts with equal choices, the lowest-numbered one wins.
 *
 * @param choice             [num_tokens, num_expert_group, experts_per_group]; neither NaN nor +infinity
 * @param num_tokens         at least 1
 * @param num_expert_group   1 to MAX_GROUPS, one warp per group
 * @param experts_per_group  1 to 32, one lane per expert
 * @param topk_group         1 to num_expert_group
 * @param best               [num_tokens]; id is the expert's index in the row, group * experts_per_group + lane
 */
cudaError_t best_expert_launch(const float *choice, int num_tokens, int num_expert_group, int experts_per_group,
                               int topk_group, struct candidate *best);

#ifdef __cplusplus
}
#endif

#endif
