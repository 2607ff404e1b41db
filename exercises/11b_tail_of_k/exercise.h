/** @file exercise.h  11b_tail_of_k: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Multiplies every row of `rows` by every row of `weights`. All arrays are row-major, in device memory.
 *
 * @param rows     [num_rows, length]
 * @param weights  [num_columns, length]
 * @param out      [num_rows, num_columns] the sum over k of rows[r][k] * weights[c][k]
 */
cudaError_t product_launch(const float *rows, const float *weights, int num_rows, int num_columns, int length,
                           float *out);

#ifdef __cplusplus
}
#endif

#endif
