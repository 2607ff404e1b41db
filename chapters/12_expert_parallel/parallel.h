/** @file parallel.h  Chapter 12: the kernels between the collectives and the experts. Arrays are in device memory. */
#ifndef PARALLEL_H
#define PARALLEL_H

#include "harness/moe/moe.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Copies rows to the send buffer `to` [count, H]: its row i is row rows[i] of `hidden`. */
cudaError_t gather_rows_launch(const struct moe_problem *problem, const void *hidden, const int32_t *rows,
                               int64_t count, void *to, cudaStream_t stream);

/**
 * Writes sums [num_tokens, H] in f32: for each token the sum of its rows of `partial`, which moe_launch() has written.
 */
cudaError_t sum_partial_launch(const struct moe_problem *problem, const void *partial, float *sums,
                               cudaStream_t stream);

/**
 * Writes result [count, H] in the layer's type: row t is the sum of `parts` rows of `sums`, rounded once. places
 * [count, parts] holds the indices of these rows, or -1 where there is no row. If places is NULL, parts is 1 and the
 * index is t.
 */
cudaError_t add_rows_launch(const struct moe_problem *problem, const float *sums, const int32_t *places, int parts,
                            int64_t count, void *result, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
