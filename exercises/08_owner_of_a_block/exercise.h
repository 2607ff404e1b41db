/** @file exercise.h  08_owner_of_a_block: what the exercise and its grader agree on. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Says of each block of rows which expert it belongs to.
 *
 * @param offsets      [num_experts + 1]: the place where each expert's group begins, in ascending order, and in the end
 *                     the place where the last group ends. Groups are whole blocks; an empty one begins where the next
 *                     does
 * @param num_experts  at least 1
 * @param block_size   places in a block
 * @param num_blocks   at least 1, and no fewer than the groups have; no place is above 2147483647
 * @param expert_ids   [num_blocks]: the expert of each block, -1 past the last group
 */
cudaError_t expert_ids_launch(const int *offsets, int num_experts, int block_size, int num_blocks, int *expert_ids);

#ifdef __cplusplus
}
#endif

#endif
