/** @file exercise.h  04_compare_exchange: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32, NO_EXPERT = 0x7fffffff };

/** A candidate in the sort: a score and the expert to which it belongs. */
struct candidate {
    float value;
    int id;
};

/**
 * Sorts each token's experts, best first. Larger scores rank first, and ties go to the lower id.
 *
 * @param scores       [num_tokens, num_experts]; may hold infinities and NaN
 * @param num_tokens   at least 1
 * @param num_experts  1 to 32, one lane per expert
 * @param sorted       [num_tokens, 32]: first the experts with a score; then those whose score is NaN, in the order of
 *                     their numbers, as {-infinity, expert + num_experts}; then {-infinity, NO_EXPERT} in all remaining
 *                     slots
 */
cudaError_t sort_launch(const float *scores, int num_tokens, int num_experts, struct candidate *sorted);

#ifdef __cplusplus
}
#endif

#endif
