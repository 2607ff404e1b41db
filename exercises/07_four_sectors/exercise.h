/** @file exercise.h  07_four_sectors: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The size of a sector of global memory: 32 bytes, 8 words. */
enum { SECTOR_BYTES = 32 };

/**
 * Writes a pad to every slot of a list.
 *
 * @param sorted_token_ids  [capacity]; begins at any multiple of 4 bytes
 * @param capacity          at least 0; need not be a multiple of any number
 * @param pad               the value for every slot
 */
cudaError_t fill_launch(int *sorted_token_ids, int capacity, int pad);

#ifdef __cplusplus
}
#endif

#endif
