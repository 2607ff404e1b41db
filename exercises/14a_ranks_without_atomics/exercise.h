/** @file exercise.h  14a_ranks_without_atomics: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32, MAX_EXPERTS = 256 };

/**
 * Finds, for each id, the number of earlier ids that name the same expert; runs on one warp.
 *
 * @param topk_ids     [numel]; ids outside 0 to num_experts - 1 name no expert
 * @param numel        at least 0
 * @param num_experts  1 to MAX_EXPERTS
 * @param ranks        [numel]; -1 for ids that name no expert
 */
cudaError_t rank_ids_within_expert_launch(const int32_t *topk_ids, int numel, int num_experts, int32_t *ranks);

#ifdef __cplusplus
}
#endif

#endif
