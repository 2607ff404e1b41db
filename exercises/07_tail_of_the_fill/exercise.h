/** @file exercise.h  07_tail_of_the_fill: what the exercise and its grader agree on. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes a pad to every place of a list.
 *
 * @param sorted_token_ids  [capacity]; at a multiple of 4 bytes, no more
 * @param capacity          at least 0
 * @param pad               what every place gets
 */
cudaError_t fill_launch(int32_t *sorted_token_ids, int capacity, int32_t pad);

#ifdef __cplusplus
}
#endif

#endif
