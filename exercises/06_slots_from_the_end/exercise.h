/** @file exercise.h  06_slots_from_the_end: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sorts positions by their expert.
 *
 * @param topk_ids          [numel], each 0 to num_experts - 1
 * @param numel             at least 0
 * @param ends              [num_experts]: the index after each expert's last slot
 * @param num_experts       1 to 4096
 * @param sorted_token_ids  [numel]
 */
cudaError_t scatter_launch(const int32_t *topk_ids, int numel, const int32_t *ends, int num_experts,
                           int32_t *sorted_token_ids);

#ifdef __cplusplus
}
#endif

#endif
