/** @file exercise.h  11c_fragments_by_hand: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shape of an mma.m16n8k16 product. */
enum { WEIGHT_ROWS = 16, TOKENS = 8, DEPTH = 16 };

/**
 * Multiplies every row of weights by every token.
 *
 * @param weights  [WEIGHT_ROWS][DEPTH], bits of bf16
 * @param tokens   [DEPTH][TOKENS], bits of bf16: element 0 of all tokens, then element 1, and so on
 * @param sums     [TOKENS][WEIGHT_ROWS], f32
 */
cudaError_t product_launch(const uint16_t *weights, const uint16_t *tokens, float *sums);

#ifdef __cplusplus
}
#endif

#endif
