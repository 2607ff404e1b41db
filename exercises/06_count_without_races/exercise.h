/** @file exercise.h  06_count_without_races: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Counts how many ids name each expert. Ids outside 0 to num_experts - 1 name no expert.
 *
 * @param topk_ids     [numel]
 * @param numel        at least 0
 * @param num_experts  1 to 4096
 * @param num_ids      [num_experts]
 */
cudaError_t count_ids_launch(const int32_t *topk_ids, int64_t numel, int num_experts, int32_t *num_ids);

#ifdef __cplusplus
}
#endif

#endif
