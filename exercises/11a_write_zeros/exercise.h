/** @file exercise.h  11a_write_zeros: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The inputs and the result of a second product. All arrays are row-major, in device memory. */
struct down_projection_problem {
    int num_positions;               /**< also the value of a pad */
    int intermediate_size;           /**< at least 1 */
    int hidden_size;                 /**< at least 1; need not be a multiple of any number */
    int block_size;                  /**< slots in a block, all of one expert */
    int capacity;                    /**< number of slots; a multiple of block_size */
    const float *intermediate;       /**< [num_positions, intermediate_size]; undefined for non-local experts */
    const float *w2;                 /**< [local experts, hidden_size, intermediate_size] */
    const float *topk_weights;       /**< [num_positions] */
    const int32_t *sorted_token_ids; /**< [capacity] positions; the value num_positions marks a pad */
    const int32_t *expert_ids;       /**< [capacity / block_size]; -1 if not local or past the last block */
    float *partial;                  /**< [num_positions, hidden_size] */
};

/** Computes problem->partial. */
cudaError_t down_projection_launch(const struct down_projection_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
