/**
 * @file gate.cu
 * @brief Chapter 03: chapter 02 without divergence: selects for branches, one lane reads for all, two ids a store.
 *
 * Before: in better() some lanes of a warp branch and others do not; every lane reads every kept group.
 * Now:    every lane computes both outcomes and selects; lane 0 reads and shuffles the answer to the others.
 * Watch:  divergent branches; shared load requests; lanes at work in the last store; shuffles go up, not down.
 */
#include "harness/gate.h"
#include "kernels/block_softmax.cuh"
#include "kernels/dtype.cuh"

#include <math.h>

enum { WARP_SIZE = 32, MAX_GROUPS = 32, MAX_TOPK = 32, NOBODY = 0x7fffffff };

static const unsigned FULL_MASK = 0xffffffffu;

// [warp_reduce]
/** The largest value of the warp, in every lane. */
static __device__ float warp_max(float value)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, offset));
    return value;
}

/** The sum of the warp's values, the same bits in every lane. */
static __device__ float warp_sum(float value)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(FULL_MASK, value, offset);
    return value;
}
// [warp_reduce]

// [warp_best]
/** What a top-k compares: a value, and whose it is. */
struct candidate {
    float value;
    int id;
};

/** `a` if `first` holds, else `b`: both are there already, so there is nothing to branch for. */
static __device__ __forceinline__ candidate select(bool first, candidate a, candidate b)
{
    const float a_value = a.value, b_value = b.value;
    const int a_id = a.id, b_id = b.id;

    return {first ? a_value : b_value, first ? a_id : b_id};
}

/** The one that ranks higher: the larger value, or of equal values the lower id. */
static __device__ candidate better(candidate mine, candidate other)
{
    /* | and & where C would write || and &&: those are branches too. */
    const bool take = (other.value > mine.value) | ((other.value == mine.value) & (other.id < mine.id));

    return select(take, other, mine);
}

/** The best candidate of the first `width` lanes, a power of two, in each of them. All 32 lanes must call. */
static __device__ __forceinline__ candidate warp_best(candidate mine, int width)
{
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        candidate other;

        if (offset >= width) /* the same for all lanes */
            continue;

        other.value = __shfl_xor_sync(FULL_MASK, mine.value, offset);
        other.id = __shfl_xor_sync(FULL_MASK, mine.id, offset);
        mine = better(mine, other);
    }
    return mine;
}
// [warp_best]

/** The lanes a butterfly over `count` values needs: the next power of two. */
static __device__ int lanes_for(int count)
{
    return count > 1 ? 1 << (WARP_SIZE - __clz(count - 1)) : 1;
}

// [group_score]
/** The warp's best choice, or the sum of its two best; the second may equal the first. The same in every lane. */
template <typename Choice>
static __device__ float score_of_group(float choice, bool has_bias, int lane)
{
    const float first = warp_max(choice);

    if (!has_bias)
        return first;

    const int first_lane = __ffs(__ballot_sync(FULL_MASK, choice == first)) - 1;
    const float second = warp_max(lane == first_lane ? -INFINITY : choice);
    const float sum = round_to<Choice>(first + second);

    return isnan(sum) ? -INFINITY : sum; /* +infinity and -infinity in one group */
}
// [group_score]

/**
 * Grid: a block per token. Block: num_expert_group warps.
 *
 * @tparam T       type of the logits and of the weights before the scale
 * @tparam Choice  type of score + bias
 * @tparam Bias    type of the bias
 */
template <typename T, typename Choice, typename Bias>
static __global__ void gate_kernel(gate_problem problem, int experts_per_group, const T *gating_output,
                                   const Bias *correction_bias, float *topk_weights, int *topk_ids)
{
    __shared__ float group_scores[MAX_GROUPS];
    __shared__ int kept_groups[MAX_GROUPS];
    __shared__ float expert_scores[MAX_GROUPS * WARP_SIZE];
    __shared__ candidate group_best[MAX_GROUPS][MAX_TOPK];
    __shared__ int chosen[MAX_TOPK];

    const int lane = threadIdx.x % WARP_SIZE;
    const int group = __shfl_sync(FULL_MASK, (int)threadIdx.x / WARP_SIZE, 0); /* tells nvcc that lanes agree */
    const int expert = group * experts_per_group + lane;
    const bool has_expert = lane < experts_per_group;
    const size_t row = blockIdx.x;
    const candidate nobody = {-INFINITY, NOBODY};

    // [score]
    /* Both loads come first, so that the second does not wait for what is computed from the first. */
    float score = has_expert ? to_float(gating_output[row * problem.num_experts + expert]) : -INFINITY;
    const float bias = has_expert && correction_bias ? to_float(correction_bias[expert]) : 0.0f;

    if (problem.score == GATE_SCORE_SIGMOID)
        score = 1.0f / (1.0f + expf(-score));
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
        mine = {-INFINITY, expert + problem.num_experts};
    if (has_expert)
        expert_scores[expert] = mine.id == expert ? score : 0.0f;
    // [rank]

    // [groups]
    const float group_score = score_of_group<Choice>(mine.value, correction_bias != NULL, lane);

    if (lane == 0)
        group_scores[group] = group_score;
    __syncthreads();

    if (group == 0) {
        const int group_lanes = lanes_for(problem.num_expert_group);
        candidate left = {-INFINITY, NOBODY};

        if (lane < problem.num_expert_group)
            left = {group_scores[lane], lane};
        for (int i = 0; i < problem.topk_group; i++) {
            const candidate best = warp_best(left, group_lanes);

            if (lane == 0)
                kept_groups[i] = best.id;
            left = select(best.id == left.id, nobody, left);
        }
    }
    __syncthreads();
    // [groups]

    // [local]
    int place = NOBODY; /* of this warp's group among those kept */
    if (lane == 0)
        for (int i = 0; i < problem.topk_group; i++)
            place = kept_groups[i] == group ? i : place;
    place = __shfl_sync(FULL_MASK, place, 0);
    if (place != NOBODY) {
        for (int k = 0; k < problem.topk; k++) {
            const candidate best = warp_best(mine, WARP_SIZE);

            if (lane == 0)
                group_best[place][k] = best;
            mine = select(best.id == mine.id, nobody, mine);
        }
    }
    __syncthreads();
    // [local]

    /* The other warps have nothing left to do, and no barrier follows. */
    if (group != 0)
        return;

    // [merge]
    const int front_lanes = lanes_for(problem.topk_group);
    int head = 0; /* lane i has taken this many from the sorted list of kept group i */
    for (int k = 0; k < problem.topk; k++) {
        candidate front = {-INFINITY, NOBODY};

        if (lane < problem.topk_group)
            front = group_best[lane][head];

        const candidate best = warp_best(front, front_lanes);

        if (lane == 0)
            chosen[k] = best.id < problem.num_experts ? best.id : best.id - problem.num_experts;
        head += best.id == front.id;
    }
    __syncwarp();
    // [merge]

    // [weights]
    const bool writes = lane < problem.topk;
    const int id = writes ? chosen[lane] : 0;
    float weight = writes ? expert_scores[id] : 0.0f;
    const float sum = round_to<T>(warp_sum(weight));

    if (problem.renormalize && !isfinite(sum))
        weight = 0.0f;
    else if (problem.renormalize && sum != 0.0f)
        weight = round_to<T>(weight / sum);
    if (writes)
        topk_weights[row * problem.topk + lane] = weight * problem.routed_scaling_factor;
    // [weights]

    // [stores]
    /* Two ids a store; a row of an odd number of ids does not begin where an int2 may lie. */
    if (problem.topk % 2 == 0 && lane < problem.topk / 2)
        ((int2 *)(topk_ids + row * problem.topk))[lane] = make_int2(chosen[2 * lane], chosen[2 * lane + 1]);
    else if (problem.topk % 2 == 1 && writes)
        topk_ids[row * problem.topk + lane] = id;
    // [stores]
}

template <typename T, typename Choice, typename Bias>
static cudaError_t launch(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    gate_kernel<T, Choice, Bias><<<(unsigned)problem->num_tokens, problem->num_expert_group * WARP_SIZE, 0, stream>>>(
        *problem, problem->num_experts / problem->num_expert_group, (const T *)buffers->gating_output,
        (const Bias *)buffers->correction_bias, buffers->topk_weights, buffers->topk_ids);
    return cudaGetLastError();
}

cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream)
{
    const bool wide = gate_choice_dtype(problem) == DTYPE_F32; /* an f32 bias makes every choice f32 */

    if (problem->num_tokens == 0) /* an empty grid is a launch error */
        return cudaSuccess;
    switch (problem->dtype) {
    case DTYPE_F16:
        return wide ? launch<__half, float, float>(problem, buffers, stream)
                    : launch<__half, __half, __half>(problem, buffers, stream);
    case DTYPE_BF16:
        return wide ? launch<__nv_bfloat16, float, float>(problem, buffers, stream)
                    : launch<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>(problem, buffers, stream);
    default:
        return launch<float, float, float>(problem, buffers, stream);
    }
}
