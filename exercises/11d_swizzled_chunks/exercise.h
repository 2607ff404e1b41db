/** @file exercise.h  11d_swizzled_chunks: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shapes: a row of the stage has 32 elements, 64 bytes, so that two rows cover all 32 banks once. */
enum { WEIGHT_ROWS = 32, TOKEN_ROWS = 16, STAGE_ROWS = WEIGHT_ROWS + TOKEN_ROWS, K_STEP = 32 };

/**
 * Multiplies every row of weights by every token.
 *
 * @param weights  [WEIGHT_ROWS][K_STEP], bits of bf16
 * @param tokens   [TOKEN_ROWS][K_STEP], bits of bf16
 * @param sums     [TOKEN_ROWS][WEIGHT_ROWS], f32
 */
cudaError_t multiply_launch(const uint16_t *weights, const uint16_t *tokens, float *sums);

#ifdef __cplusplus
}
#endif

#endif
