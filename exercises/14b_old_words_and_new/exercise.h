/** @file exercise.h  14b_old_words_and_new: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_BLOCKS = 12, WORKSPACE_WORDS = 1 + MAX_BLOCKS };

/**
 * Launches the kernel several times with one workspace. In each launch, every block has a number and computes the sum
 * of all blocks' numbers. All blocks of a launch are co-resident.
 *
 * @param numbers       [num_launches, MAX_BLOCKS] on the device, at least 0; only num_blocks[launch] per row are used
 * @param num_blocks    [num_launches] on the host, 1 to MAX_BLOCKS each
 * @param num_launches  at least 1
 * @param workspace     [WORKSPACE_WORDS] on the device, zeros before the first launch
 * @param sums          [num_launches, MAX_BLOCKS] on the device: each block's sum, or -1 if the block gave up
 */
cudaError_t sum_over_blocks_launch(const int32_t *numbers, const int *num_blocks, int num_launches, uint32_t *workspace,
                                   int32_t *sums);

#ifdef __cplusplus
}
#endif

#endif
