/** @file exercise.h  03_no_divergence: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32, NO_EXPERT = 0x7fffffff };

/** A candidate for the top k: a value and the expert to which it belongs. */
struct candidate {
    float value;
    int id;
};

/**
 * Finds each token's `topk` best experts, best first. Larger choices rank first, and ties go to the lower id.
 *
 * @param choice       [num_tokens, num_experts]; may hold -infinity, but neither NaN nor +infinity
 * @param num_tokens   at least 1
 * @param num_experts  1 to 32, one lane per expert
 * @param topk         1 to num_experts
 * @param best         [num_tokens, 32]: slot k has the k-th best; slots from topk on hold -infinity and NO_EXPERT
 */
cudaError_t top_experts_launch(const float *choice, int num_tokens, int num_experts, int topk, struct candidate *best);

#ifdef __cplusplus
}
#endif

#endif
