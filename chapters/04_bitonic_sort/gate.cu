/**
 * @file gate.cu
 * @brief Chapter 04: a warp sorts its 32 experts once instead of searching for the best one eight times.
 *
 * Before: each round finds and removes the best of 32 candidates; 8 rounds of 5 steps per group, and 8 to merge.
 * Now:    15 compare-exchange steps sort all 32 candidates; one selection and 5 steps merge two sorted runs.
 * Watch:  shuffles and sequential steps per token; 3 barriers, as before.
 */
#include "harness/gate/gate.h"
#include "kernels/block_softmax.cuh"
#include "kernels/candidate.cuh"

#include <math.h>

// [constants]
enum { WARP_SIZE = 32, MAX_GROUPS = 32, NO_EXPERT = 0x7fffffff };

static const unsigned FULL_MASK = 0xffffffffu;
// [constants]

// [bit_of]
/** Returns bit `position` of a word: 0 or 1. */
static __device__ __forceinline__ unsigned bit_of(unsigned word, unsigned position)
{
#ifdef __CUDA_ARCH__
    unsigned bit;

    asm("bfe.u32 %0, %1, %2, 1;" : "=r"(bit) : "r"(word), "r"(position));
    return bit;
#else
    return word >> position & 1;
#endif
}
// [bit_of]

// [compare_exchange]
/** Exchanges candidates with the lane `distance` away; returns the better one if `keep_better`, else the worse. */
static __device__ __forceinline__ candidate compare_exchange(candidate mine, int distance, bool keep_better)
{
    candidate other;

    other.value = __shfl_xor_sync(FULL_MASK, mine.value, distance);
    other.id = __shfl_xor_sync(FULL_MASK, mine.id, distance);

    return select(ranks_before(other, mine) == keep_better, other, mine);
}
// [compare_exchange]

// [warp_sort]
/**
 * Sorts the warp's candidates, with the best in lane 0. Stage s merges pairs of runs into sorted runs of 2^s lanes. Bit
 * s of the lane number gives the direction of the lane's run; bit d is 0 in the lower lane of a pair at distance 2^d
 * and 1 in the upper lane.
 */
static __device__ __forceinline__ candidate warp_sort(candidate mine, unsigned lane)
{
#pragma unroll
    for (int s = 1; s <= 5; s++) {
#pragma unroll
        for (int d = s - 1; d >= 0; d--)
            mine = compare_exchange(mine, 1 << d, bit_of(lane, s) == bit_of(lane, d));
    }
    return mine;
}
// [warp_sort]

// [group_score]
/** Returns the best choice of a sorted warp, or the sum of its two best, to every lane. */
static __device__ float score_of_group(float choice, bool has_bias)
{
    const float first = __shfl_sync(FULL_MASK, choice, 0), second = __shfl_sync(FULL_MASK, choice, 1);
    const float sum = first + second;

    return !has_bias ? first : isnan(sum) ? -INFINITY : sum; /* +infinity plus -infinity is NaN */
}
// [group_score]

// [warp_merge]
/**
 * Returns the best 32 of two sorted runs of 32, sorted. Each lane passes its candidate from one run and, in `reversed`,
 * its candidate from the other run in reverse order. The winners of these pairs form a bitonic sequence, which one
 * stage sorts.
 */
static __device__ __forceinline__ candidate warp_merge(candidate mine, candidate reversed, unsigned lane)
{
    mine = select(ranks_before(reversed, mine), reversed, mine);
#pragma unroll
    for (int d = 4; d >= 0; d--)
        mine = compare_exchange(mine, 1 << d, bit_of(lane, d) == 0);
    return mine;
}
// [warp_merge]

// [warp_sum]
/** Returns the sum of the 32 lanes' values, bit-identical in every lane. All 32 lanes must call it. */
static __device__ float warp_sum(float value)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(FULL_MASK, value, offset);
    return value;
}
// [warp_sum]

// [expert_of]
/** Returns the number of an id's expert; num_experts has been added to the id of an expert whose choice is NaN. */
static __device__ int expert_of(int id, int num_experts)
{
    return id < num_experts ? id : id - num_experts;
}
// [expert_of]

// [signature]
/** Routes tokens. Grid: one block per token. Block: num_expert_group warps. correction_bias may be NULL. */
template <int NUM_EXPERTS>
static __global__ void gate_kernel(gate_problem problem, int experts_per_group, const float *gating_output,
                                   const float *correction_bias, float *topk_weights, int *topk_ids)
{
    // [signature]
    // [shared]
    __shared__ float group_scores[MAX_GROUPS];
    __shared__ int kept_groups[MAX_GROUPS];
    __shared__ float expert_scores[NUM_EXPERTS];
    __shared__ candidate group_best[MAX_GROUPS][WARP_SIZE];
    // [shared]

    // [who]
    const int lane = threadIdx.x % WARP_SIZE;
    const int group = __shfl_sync(FULL_MASK, (int)threadIdx.x / WARP_SIZE, 0); /* so nvcc knows it is warp-uniform */
    const int expert = group * experts_per_group + lane;
    const bool has_expert = lane < experts_per_group;
    const size_t row = blockIdx.x;
    // [who]

    // [score]
    /* Both loads are issued before the score is computed, so that their latencies overlap. */
    float score = has_expert ? gating_output[row * NUM_EXPERTS + expert] : -INFINITY;
    const float bias = has_expert && correction_bias ? correction_bias[expert] : 0.0f;

    if (problem.score == GATE_SCORE_SIGMOID)
        score = 1.0f / (1.0f + expf(-score));
    else if (problem.score == GATE_SCORE_SOFTMAX)
        score = block_softmax(score, has_expert);
    // [score]

    // [choice]
    candidate mine = {score + bias, expert};

    if (has_expert)
        expert_scores[expert] = score;
    else
        mine = {-INFINITY, NO_EXPERT};
    // [choice]

    // [nan]
    /* A NaN choice ranks below all others but above lanes without an expert, and its expert gets the weight 0. */
    if (has_expert && isnan(mine.value)) {
        mine = {-INFINITY, expert + NUM_EXPERTS};
        expert_scores[expert] = 0.0f;
    }
    // [nan]

    // [groups]
    mine = warp_sort(mine, lane);

    const float group_score = score_of_group(mine.value, correction_bias != NULL);

    if (lane == 0)
        group_scores[group] = group_score;
    __syncthreads();

    if (group == 0) {
        candidate group_candidate = {-INFINITY, NO_EXPERT};

        if (lane < problem.num_expert_group)
            group_candidate = {group_scores[lane], lane};
        group_candidate = warp_sort(group_candidate, lane);
        if (lane < problem.topk_group)
            kept_groups[lane] = group_candidate.id;
    }
    __syncthreads();
    // [groups]

    // [local]
    int rank = problem.topk_group; /* index of this warp's group in kept_groups */
    for (int i = 0; i < problem.topk_group; i++)
        rank = kept_groups[i] == group ? i : rank;
    if (rank < problem.topk_group)
        group_best[rank][lane] = mine;
    __syncthreads();
    // [local]

    // [last_warp]
    /* Only warp 0 still has work, and no barrier follows, so the other warps may return. */
    if (group != 0)
        return;

    mine = group_best[0][lane];
    for (int i = 1; i < problem.topk_group; i++)
        mine = warp_merge(mine, group_best[i][WARP_SIZE - 1 - lane], lane);
    // [last_warp]

    // [weights]
    const bool writes = lane < problem.topk;
    const int id = expert_of(mine.id, NUM_EXPERTS);
    float weight = writes ? expert_scores[id] : 0.0f;
    const float sum = warp_sum(weight);

    if (problem.renormalize && sum != 0.0f)
        weight = isfinite(sum) ? weight / sum : 0.0f;
    if (writes) {
        topk_weights[row * problem.topk + lane] = weight * problem.routed_scaling_factor;
        topk_ids[row * problem.topk + lane] = id;
    }
    // [weights]
}

// [launch]
template <int NUM_EXPERTS>
static cudaError_t launch(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    gate_kernel<NUM_EXPERTS><<<(unsigned)problem->num_tokens, problem->num_expert_group * WARP_SIZE, 0, stream>>>(
        *problem, problem->num_experts / problem->num_expert_group, (const float *)buffers->gating_output,
        (const float *)buffers->correction_bias, buffers->topk_weights, buffers->topk_ids);
    return cudaGetLastError();
}

cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream)
{
    if (problem->num_tokens == 0) /* launching an empty grid is an error */
        return cudaSuccess;
    switch (problem->num_experts) {
    case 64:
        return launch<64>(problem, buffers, stream);
    case 128:
        return launch<128>(problem, buffers, stream);
    case 256:
        return launch<256>(problem, buffers, stream);
    default:
        return cudaErrorInvalidValue;
    }
}
// [launch]
