/** @file exercise.h  17_late_wait: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WIDTH = 64 }; /* elements per token, and threads per block */

/**
 * Runs steps of two kernels, each of which overlaps the previous one. The first kernel computes the step's token from
 * the prompt and the logits so far. The second kernel, which is the exercise, adds each row's bias and the dot product
 * of its weights and the token to the row's logit.
 *
 * @param weights                            [num_rows, WIDTH]
 * @param bias                               [num_rows]
 * @param prompt                             [num_steps, WIDTH]
 * @param run_only_logits_kernel_until_wait  launch only the second kernel, and end each of its threads at the wait
 * @param token                              [WIDTH], written in each step
 * @param logits                             [num_rows], zeros before the first step
 */
cudaError_t decode_steps_launch(const int32_t *weights, const int32_t *bias, const int32_t *prompt, int num_rows,
                                int num_steps, bool run_only_logits_kernel_until_wait, int32_t *token, int32_t *logits);

#ifdef __cplusplus
}
#endif

#endif
