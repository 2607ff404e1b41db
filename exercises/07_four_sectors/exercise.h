/** @file exercise.h  07_four_sectors: what the exercise and its grader agree on. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A sector of global memory: 32 bytes, 8 words. */
enum { SECTOR_BYTES = 32 };

/**
 * Writes a pad to every place of a list.
 *
 * @param sorted_token_ids  [capacity]; begins at any multiple of 4 bytes
 * @param capacity          at least 0; no multiple of anything
 * @param pad               what every place is to hold
 */
cudaError_t fill_launch(int *sorted_token_ids, int capacity, int pad);

#ifdef __cplusplus
}
#endif

#endif
