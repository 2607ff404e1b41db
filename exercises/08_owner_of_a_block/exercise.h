/** @file exercise.h  08_owner_of_a_block: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Finds the expert of each block of rows.
 *
 * @param offsets         [num_experts + 1]: the slot where each expert's group begins, in ascending order; the last
 *                        element is the slot where the last group ends. Groups are whole blocks; an empty group begins
 *                        where the next one does
 * @param num_experts     at least 1
 * @param block_size      slots in a block
 * @param num_row_blocks  at least 1 and at least the number of blocks in all groups; no slot is above 2147483647
 * @param expert_ids      [num_row_blocks]: the expert of each block, -1 past the last group
 */
cudaError_t expert_ids_launch(const int *offsets, int num_experts, int block_size, int num_row_blocks, int *expert_ids);

#ifdef __cplusplus
}
#endif

#endif
