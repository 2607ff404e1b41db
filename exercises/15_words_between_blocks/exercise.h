/** @file exercise.h  15_words_between_blocks: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_BLOCKS = 12, NO_BLOCK_ABSENT = -1 };

/**
 * Finds, for each block, the number of blocks with the same id and how many of these blocks come before it. Each block
 * has one warp and one id; all blocks are co-resident.
 *
 * @param ids           [num_blocks], at least 0
 * @param num_blocks    1 to MAX_BLOCKS
 * @param absent_block  a block that returns immediately, or NO_BLOCK_ABSENT
 * @param words         [num_blocks], zeros before the launch
 * @param totals        [num_blocks] number of blocks with the same id, including this one; -1 if a block is absent
 * @param ranks         [num_blocks] number of earlier blocks with the same id; -1 if a block is absent
 */
cudaError_t count_equal_ids_launch(const int32_t *ids, int num_blocks, int absent_block, uint32_t *words,
                                   int32_t *totals, int32_t *ranks);

#ifdef __cplusplus
}
#endif

#endif
