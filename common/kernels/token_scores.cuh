/**
 * @file token_scores.cuh
 * @brief Computes chapter 05's scores; `groups` neighbouring lanes of a warp process one token's row together.
 */
#ifndef KERNELS_TOKEN_SCORES_CUH
#define KERNELS_TOKEN_SCORES_CUH

#include "harness/gate/gate.h"
#include "kernels/dtype.cuh"

#include <math.h>

// [token_sum]
/** Returns the sum of the values of a token's `groups` lanes to each of these lanes. */
static __device__ __forceinline__ float token_sum(float value, int groups)
{
    for (int offset = groups / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}
// [token_sum]

// [softmax_row]
/** The largest logit of a token's row, and the sum of exp(logit - largest). */
struct softmax_row {
    float largest, total;
};
// [softmax_row]

// [to_scores]
/**
 * Replaces CAPACITY logits with their scores. Each kind of score has a separate loop, so that the kind is tested once
 * instead of CAPACITY times.
 */
template <typename T, int CAPACITY>
static __device__ __forceinline__ void to_scores(enum gate_score score, softmax_row row, float (&x)[CAPACITY])
{
    if (score == GATE_SCORE_SIGMOID) {
#pragma unroll
        for (int e = 0; e < CAPACITY; e++)
            x[e] = __fdividef(1.0f, 1.0f + expf(-x[e]));
    } else if (score == GATE_SCORE_SOFTMAX) {
#pragma unroll
        for (int e = 0; e < CAPACITY; e++)
            x[e] = expf(x[e] - row.largest) / row.total;
    }
#pragma unroll
    for (int e = 0; e < CAPACITY; e++)
        x[e] = round_to<T>(x[e]);
}
// [to_scores]

// [recompute_score]
/** Returns the unbiased score of a chosen expert, recomputed from its logit, or 0 for an expert whose choice is NaN. */
template <typename T>
static __device__ __forceinline__ float recompute_score(enum gate_score score, softmax_row row, const T *logits, int id,
                                                        int num_experts)
{
    float x[1] = {id < num_experts ? to_float(logits[id]) : 0.0f};

    to_scores<T>(score, row, x);
    return id < num_experts ? x[0] : 0.0f;
}
// [recompute_score]

// [reduce_row]
/** Returns the largest logit of a token's row and the sum of exp(logit - largest) to each of the token's lanes. */
template <int CAPACITY>
static __device__ __forceinline__ softmax_row reduce_row(const float (&logit)[CAPACITY], int count, int groups)
{
    softmax_row row = {-INFINITY, 0.0f};

#pragma unroll
    for (int e = 0; e < CAPACITY; e++)
        row.largest = e < count ? fmaxf(row.largest, logit[e]) : row.largest;
    for (int offset = groups / 2; offset > 0; offset /= 2)
        row.largest = fmaxf(row.largest, __shfl_xor_sync(0xffffffffu, row.largest, offset));
#pragma unroll
    for (int e = 0; e < CAPACITY; e++)
        row.total += e < count ? expf(logit[e] - row.largest) : 0.0f;
    row.total = token_sum(row.total, groups);
    return row;
}
// [reduce_row]

#endif
