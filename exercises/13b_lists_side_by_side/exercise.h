/** @file exercise.h  13b_lists_side_by_side: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shape: a token has 8 groups of 4 experts; a warp has 4 tokens, and a lane for each of their groups. */
enum {
    WARP_SIZE = 32,
    GROUPS = 8,
    GROUP_SIZE = 4,
    EXPERTS = GROUPS * GROUP_SIZE,
    TOKENS_PER_WARP = WARP_SIZE / GROUPS
};

/**
 * Lists the candidates of each token.
 *
 * @param keys     [num_tokens, EXPERTS]
 * @param bounds   [num_tokens]: a key that is at least its token's bound is a candidate
 * @param lists    [num_tokens, EXPERTS]: the candidates' experts in ascending order, padded with -1
 * @param counts   [num_tokens]: number of candidates
 */
cudaError_t list_candidates_launch(const uint32_t *keys, const uint32_t *bounds, int num_tokens, int32_t *lists,
                                   int32_t *counts);

#ifdef __cplusplus
}
#endif

#endif
