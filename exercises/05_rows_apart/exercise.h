/** @file exercise.h  05_rows_apart: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shape: a warp has TOKENS_PER_WARP tokens, and a token has GROUPS lanes. */
enum { WARP_SIZE = 32, WARPS = 2, TOKENS_PER_WARP = 4, GROUPS = 8, MAX_TOPK = 32 };

/** Returns the number of words of shared memory for a warp's rows. */
int num_words_of_warp_rows(void);

/**
 * Copies each token's choices to topk_ids: the token's first lane writes them to shared memory, and all of its lanes
 * read them there.
 *
 * @param choices   [num_tokens, topk]
 * @param topk      1 to MAX_TOPK
 * @param topk_ids  [num_tokens, topk]
 */
cudaError_t copy_choices_launch(const int32_t *choices, int num_tokens, int topk, int32_t *topk_ids);

#ifdef __cplusplus
}
#endif

#endif
