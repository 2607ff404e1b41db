/** @file exercise.h  07_tail_of_the_fill: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes a pad to every slot of a list.
 *
 * @param sorted_token_ids  [capacity]; only 4-byte aligned
 * @param capacity          at least 0
 * @param pad               the value for every slot
 */
cudaError_t fill_launch(int32_t *sorted_token_ids, int capacity, int32_t pad);

#ifdef __cplusplus
}
#endif

#endif
