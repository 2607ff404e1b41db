/**
 * @file gate.cu
 * @brief Chapter 04: a warp sorts its 32 experts once, instead of finding the best eight times over.
 *
 * Before: the best of 32, out of the way, again: 8 rounds of 5 steps, and 8 more to merge.
 * Now:    15 compare-exchange steps put all 32 in order; sorted runs merge by a selection and 5 steps each.
 * Watch:  shuffles per token; no round waits for the one before it to be written; barriers stay at 3.
 */
#include "harness/gate/gate.h"
#include "kernels/block_softmax.cuh"
#include "kernels/candidate.cuh"
#include "kernels/dtype.cuh"

#include <math.h>

// [constants]
enum { WARP_SIZE = 32, MAX_GROUPS = 32, NOBODY = 0x7fffffff };
// [constants]

static const unsigned FULL_MASK = 0xffffffffu;

// [warp_reduce]
/** The sum of the first LANES lanes' values, the same bits in each of them. All 32 lanes must call. */
template <int LANES>
static __device__ float warp_sum(float value)
{
    for (int offset = LANES / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(FULL_MASK, value, offset);
    return value;
}
// [warp_reduce]

// [bit_of]
/** Bit `position` of a word: 0 or 1. */
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
/** Looks at the lane `distance` away; keeps the better of the two candidates, or the worse. */
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
 * Sorts the warp's candidates, the best in lane 0. Stage s makes sorted runs of 2^s lanes out of pairs of runs of half
 * the length, one of them reversed. Bit s of the lane says which way its run goes, bit d which end of a pair it is.
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

// [warp_merge]
/**
 * The best 32 of two sorted warpfuls, sorted. Each lane brings its own candidate and the other run's from the far end:
 * the better ones of these pairs are a bitonic sequence, which one stage of the sort puts in order.
 */
static __device__ __forceinline__ candidate warp_merge(candidate mine, candidate far_end, unsigned lane)
{
    mine = select(ranks_before(far_end, mine), far_end, mine);
#pragma unroll
    for (int d = 4; d >= 0; d--)
        mine = compare_exchange(mine, 1 << d, bit_of(lane, d) == 0);
    return mine;
}
// [warp_merge]

// [group_score]
/** The best choice of a sorted warp, or the sum of its two best. The same in every lane. */
template <typename Choice>
static __device__ float score_of_group(float choice, bool has_bias)
{
    const float first = __shfl_sync(FULL_MASK, choice, 0), second = __shfl_sync(FULL_MASK, choice, 1);
    const float sum = round_to<Choice>(first + second);

    return !has_bias ? first : isnan(sum) ? -INFINITY : sum; /* +infinity and -infinity in one group */
}
// [group_score]

// [kernel]
/**
 * Grid: a block per token. Block: num_expert_group warps.
 *
 * @tparam NUM_EXPERTS  known at compile time: each number of experts is a kernel of its own
 * @tparam T       type of the logits and of the weights before the scale
 * @tparam Choice  type of score + bias
 * @tparam Bias    type of the bias
 */
template <int NUM_EXPERTS, typename T, typename Choice, typename Bias>
static __global__ void gate_kernel(gate_problem problem, int experts_per_group, const T *gating_output,
                                   const Bias *correction_bias, float *topk_weights, int *topk_ids)
{
    __shared__ float group_scores[MAX_GROUPS];
    __shared__ int kept_groups[MAX_GROUPS];
    __shared__ float expert_scores[NUM_EXPERTS];
    __shared__ candidate group_best[MAX_GROUPS][WARP_SIZE];

    const int lane = threadIdx.x % WARP_SIZE;
    const int group = __shfl_sync(FULL_MASK, (int)threadIdx.x / WARP_SIZE, 0); /* tells nvcc that lanes agree */
    const int expert = group * experts_per_group + lane;
    const bool has_expert = lane < experts_per_group;
    const size_t row = blockIdx.x;
    // [kernel]

    // [score]
    /* Both loads come first, so that the second does not wait for what is computed from the first. */
    float score = has_expert ? to_float(gating_output[row * NUM_EXPERTS + expert]) : -INFINITY;
    const float bias = has_expert && correction_bias ? to_float(correction_bias[expert]) : 0.0f;

    if (problem.score == GATE_SCORE_SIGMOID)
        score = __fdividef(1.0f, 1.0f + expf(-score));
    else if (problem.score == GATE_SCORE_SOFTMAX)
        score = block_softmax(score, has_expert);
    score = round_to<T>(score);

    candidate mine = {score, expert};
    if (correction_bias)
        mine.value = round_to<Choice>(score + bias);
    // [score]

    // [rank]
    /* Below every expert that can be compared come those that cannot, below them the lanes that have none. */
    if (!has_expert)
        mine = {-INFINITY, NOBODY};
    else if (isnan(mine.value))
        mine = {-INFINITY, expert + NUM_EXPERTS};
    if (has_expert)
        expert_scores[expert] = mine.id == expert ? score : 0.0f;
    // [rank]

    // [groups]
    mine = warp_sort(mine, lane);

    const float group_score = score_of_group<Choice>(mine.value, correction_bias != NULL);

    if (lane == 0)
        group_scores[group] = group_score;
    __syncthreads();

    if (group == 0) {
        candidate ranked = {-INFINITY, NOBODY};

        if (lane < problem.num_expert_group)
            ranked = {group_scores[lane], lane};
        ranked = warp_sort(ranked, lane);
        if (lane < problem.topk_group)
            kept_groups[lane] = ranked.id;
    }
    __syncthreads();
    // [groups]

    // [local]
    int place = NOBODY; /* of this warp's group among those kept */
    if (lane == 0)
        for (int i = 0; i < problem.topk_group; i++)
            place = kept_groups[i] == group ? i : place;
    place = __shfl_sync(FULL_MASK, place, 0);
    if (place != NOBODY)
        group_best[place][lane] = mine;
    __syncthreads();
    // [local]

    /* The other warps have nothing left to do, and no barrier follows. */
    if (group != 0)
        return;

    // [merge]
    mine = group_best[0][lane];
    for (int i = 1; i < problem.topk_group; i++)
        mine = warp_merge(mine, group_best[i][WARP_SIZE - 1 - lane], lane);
    // [merge]

    // [weights]
    const bool writes = lane < problem.topk;
    const int id = mine.id < NUM_EXPERTS ? mine.id : mine.id - NUM_EXPERTS;
    float weight = writes ? expert_scores[id] : 0.0f;
    const float sum = round_to<T>(problem.topk <= 8 ? warp_sum<8>(weight) : warp_sum<WARP_SIZE>(weight));

    if (problem.renormalize && !isfinite(sum))
        weight = 0.0f;
    else if (problem.renormalize && sum != 0.0f)
        weight = round_to<T>(weight / sum);
    if (writes)
        topk_weights[row * problem.topk + lane] = weight * problem.routed_scaling_factor;
    // [weights]

    // [stores]
    /* Two ids a store; a row of an odd number of ids does not begin where an int2 may lie. */
    const int even_id = __shfl_sync(FULL_MASK, id, 2 * lane), odd_id = __shfl_sync(FULL_MASK, id, 2 * lane + 1);

    if (problem.topk % 2 == 0 && lane < problem.topk / 2)
        ((int2 *)(topk_ids + row * problem.topk))[lane] = make_int2(even_id, odd_id);
    else if (problem.topk % 2 == 1 && writes)
        topk_ids[row * problem.topk + lane] = id;
    // [stores]
}

// [launch]
template <int NUM_EXPERTS, typename T, typename Choice, typename Bias>
static cudaError_t launch(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    gate_kernel<NUM_EXPERTS, T, Choice, Bias>
        <<<(unsigned)problem->num_tokens, problem->num_expert_group * WARP_SIZE, 0, stream>>>(
            *problem, problem->num_experts / problem->num_expert_group, (const T *)buffers->gating_output,
            (const Bias *)buffers->correction_bias, buffers->topk_weights, buffers->topk_ids);
    return cudaGetLastError();
}
// [launch]

// [dispatch]
template <int NUM_EXPERTS>
static cudaError_t launch_for_types(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    const bool wide = gate_choice_dtype(problem) == DTYPE_F32; /* an f32 bias makes every choice f32 */

    switch (problem->dtype) {
    case DTYPE_F16:
        return wide ? launch<NUM_EXPERTS, __half, float, float>(problem, buffers, stream)
                    : launch<NUM_EXPERTS, __half, __half, __half>(problem, buffers, stream);
    case DTYPE_BF16:
        return wide ? launch<NUM_EXPERTS, __nv_bfloat16, float, float>(problem, buffers, stream)
                    : launch<NUM_EXPERTS, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16>(problem, buffers, stream);
    default:
        return launch<NUM_EXPERTS, float, float, float>(problem, buffers, stream);
    }
}

cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream)
{
    if (problem->num_tokens == 0) /* an empty grid is a launch error */
        return cudaSuccess;
    switch (problem->num_experts) {
    case 64:
        return launch_for_types<64>(problem, buffers, stream);
    case 128:
        return launch_for_types<128>(problem, buffers, stream);
    case 256:
        return launch_for_types<256>(problem, buffers, stream);
    default:
        return cudaErrorInvalidValue;
    }
}
// [dispatch]
