/** @file exercise.h  16b_warpgroup_sums: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shape of a warpgroup's product: 64 rows of weights by up to 24 tokens, rows of 64 elements of bf16. */
enum { MMA_ROWS = 64, MAX_TOKENS = 24, ROW_LENGTH = 64 };

/**
 * Multiplies every row of weights by every token.
 *
 * @param weights  [MMA_ROWS][ROW_LENGTH] bf16
 * @param tokens   [count][ROW_LENGTH] bf16
 * @param count    1 to MAX_TOKENS
 * @param sums     [count][MMA_ROWS]
 */
cudaError_t product_launch(const uint16_t *weights, const uint16_t *tokens, int count, float *sums);

#ifdef __cplusplus
}
#endif

#endif
