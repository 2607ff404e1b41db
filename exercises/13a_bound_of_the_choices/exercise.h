/** @file exercise.h  13a_bound_of_the_choices: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shape: four groups of 32 experts; all groups are kept. */
enum { WARP_SIZE = 32, GROUPS = 4, EXPERTS = GROUPS * WARP_SIZE, TOPK = 8 };

/**
 * Chooses the TOPK largest keys of each token without rounds.
 *
 * @param keys            [num_tokens, EXPERTS]; 0 is a key like any other
 * @param topk_ids        [num_tokens, TOPK]: largest first; ties go to the lower id
 * @param num_candidates  [num_tokens]: number of keys that are at least the bound, which is the smallest of the groups'
 *                        second largest keys
 */
cudaError_t choose_largest_keys_launch(const uint32_t *keys, int num_tokens, int32_t *topk_ids,
                                       int32_t *num_candidates);

#ifdef __cplusplus
}
#endif

#endif
