/** @file exercise.h  11d_swizzled_chunks: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shapes: a line has 32 elements, 64 bytes, so that two lines cover all 32 banks once. */
enum { WEIGHT_LINES = 32, TOKEN_LINES = 16, LINES = WEIGHT_LINES + TOKEN_LINES, LENGTH = 32 };

/**
 * Multiplies every row of weights by every token.
 *
 * @param weights  [WEIGHT_LINES][LENGTH], bits of bf16
 * @param tokens   [TOKEN_LINES][LENGTH], bits of bf16
 * @param sums     [TOKEN_LINES][WEIGHT_LINES], f32
 */
cudaError_t multiply_launch(const uint16_t *weights, const uint16_t *tokens, float *sums);

#ifdef __cplusplus
}
#endif

#endif
