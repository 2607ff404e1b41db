/** @file exercise.h  13c_sign_for_a_comparison: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32 };

/**
 * Ranks the WARP_SIZE values of each row.
 *
 * @param values  [num_rows, WARP_SIZE]
 * @param ranks   [num_rows, WARP_SIZE]: number of values of the row that rank before this one. Larger values rank
 *                first, 0 ranks before -0, ties go to the lower position, and NaN ranks last
 */
cudaError_t rank_values_largest_first_launch(const float *values, int num_rows, int32_t *ranks);

#ifdef __cplusplus
}
#endif

#endif
