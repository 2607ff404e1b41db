/** @file exercise.h  02_warp_maximum: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32, NO_EXPERT = 0x7fffffff };

/** A candidate for a maximum: a score and the expert to which it belongs. */
struct candidate {
    float value;
    int id;
};

/**
 * Finds each token's best expert: the one with the largest score; ties go to the lowest id.
 *
 * @param scores       [num_tokens, num_experts]; may hold -infinity, but no NaN
 * @param num_tokens   at least 1
 * @param num_experts  1 to 32, one lane per expert
 * @param best         [num_tokens, 32]: the result from each lane of the token's warp; all 32 are equal
 */
cudaError_t warp_maximum_launch(const float *scores, int num_tokens, int num_experts, struct candidate *best);

#ifdef __cplusplus
}
#endif

#endif
