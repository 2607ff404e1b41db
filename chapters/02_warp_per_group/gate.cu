/**
 * @file gate.cu
 * @brief Chapter 02: a block per token, a warp per group, a lane per expert.
 *
 * Before: 21 launches of PyTorch, and between each and the next a tensor that is written and read back.
 * Now:    one launch. Inside a warp, shuffles find the best; between warps, shared memory carries a few numbers.
 * Watch:  launches 1; shuffles and barriers per token; the branch in better() that some lanes take and others do not.
 */
#include "harness/gate/gate.h"
#include "kernels/block_softmax.cuh"
#include "kernels/dtype.cuh"

#include <math.h>

// [constants]
enum { WARP_SIZE = 32, MAX_GROUPS = 32, MAX_TOPK = 32, NOBODY = 0x7fffffff };

static const unsigned FULL_MASK = 0xffffffffu;
// [constants]

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

// [warp_best]
/** What a top-k compares: a value, and whose it is. */
struct candidate {
    float value;
    int id;
};

/** The one that ranks higher: the larger value, or of equal values the lower id. */
static __device__ candidate better(candidate mine, candidate other)
{
    if (other.value >= mine.value && (other.value > mine.value || other.id < mine.id))
        mine = other;
    return mine;
}

/** The best candidate of the first LANES lanes, in each of them. All 32 lanes must call. */
template <int LANES>
static __device__ __forceinline__ candidate warp_best(candidate mine)
{
    for (int offset = LANES / 2; offset > 0; offset /= 2) {
        candidate other;

        other.value = __shfl_xor_sync(FULL_MASK, mine.value, offset);
        other.id = __shfl_xor_sync(FULL_MASK, mine.id, offset);
        mine = better(mine, other);
    }
    return mine;
}
// [warp_best]

// [group_score]
/**
 * The warp's best choice, or the sum of its two best; the same in every lane. Each step joins two halves' two best: the
 * loser of the firsts competes with the seconds, so a value that occurs twice counts twice.
 */
template <typename Choice>
static __device__ float score_of_group(float choice, bool has_bias)
{
    float first = choice, second = -INFINITY;

    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        const float other_first = __shfl_xor_sync(FULL_MASK, first, offset);
        const float other_second = __shfl_xor_sync(FULL_MASK, second, offset);

        second = fmaxf(fminf(first, other_first), fmaxf(second, other_second));
        first = fmaxf(first, other_first);
    }

    const float sum = round_to<Choice>(first + second);

    return !has_bias ? first : isnan(sum) ? -INFINITY : sum; /* +infinity and -infinity in one group */
}
// [group_score]

// [expert_of]
/** The expert's number, from the id that it is ranked by: num_experts is added to the id where the choice is NaN. */
static __device__ int expert_of(int id, int num_experts)
{
    return id < num_experts ? id : id - num_experts;
}
// [expert_of]

// [rounds]
/** The `count` best of the lanes' candidates, one a round: find the best, write it, take it out. LANES have one. */
template <int LANES>
static __device__ void write_best(candidate mine, int count, int lane, candidate *best_first)
{
    for (int k = 0; k < count; k++) {
        const candidate best = warp_best<LANES>(mine);

        if (lane == 0)
            best_first[k] = best;
        if (best.id == mine.id)
            mine = {-INFINITY, NOBODY};
    }
}
// [rounds]

// [merge]
/** Merges lists that are sorted: lane i shows the head of list i, and the lane whose head wins moves on by one. */
template <int LANES>
static __device__ void merge_best(const candidate (*lists)[MAX_TOPK], int num_lists, int count, int lane,
                                  candidate *best_first)
{
    int head = 0;

    for (int k = 0; k < count; k++) {
        const candidate front = lane < num_lists ? lists[lane][head] : candidate{-INFINITY, NOBODY};
        const candidate best = warp_best<LANES>(front);

        if (lane == 0)
            best_first[k] = best;
        if (best.id == front.id)
            head++;
    }
}
// [merge]

// [signature]
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
    // [signature]
    // [shared]
    __shared__ float group_scores[MAX_GROUPS];
    __shared__ candidate kept_groups[MAX_GROUPS];
    __shared__ float expert_scores[MAX_GROUPS * WARP_SIZE];
    __shared__ candidate group_best[MAX_GROUPS][MAX_TOPK];
    __shared__ candidate chosen[MAX_TOPK];
    // [shared]

    // [who]
    const int lane = threadIdx.x % WARP_SIZE;
    const int group = __shfl_sync(FULL_MASK, (int)threadIdx.x / WARP_SIZE, 0); /* tells nvcc that lanes agree */
    const int expert = group * experts_per_group + lane;
    const bool has_expert = lane < experts_per_group;
    const size_t row = blockIdx.x;
    // [who]

    // [score]
    /* Both loads come first, so that the second does not wait for what is computed from the first. */
    float score = has_expert ? to_float(gating_output[row * problem.num_experts + expert]) : -INFINITY;
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
        mine = {-INFINITY, expert + problem.num_experts};
    if (has_expert)
        expert_scores[expert] = mine.id == expert ? score : 0.0f;
    // [rank]

    // [groups]
    const float group_score = score_of_group<Choice>(mine.value, correction_bias != NULL);

    if (lane == 0)
        group_scores[group] = group_score;
    __syncthreads();

    if (group == 0) {
        const candidate ranked = {lane < problem.num_expert_group ? group_scores[lane] : -INFINITY,
                                  lane < problem.num_expert_group ? lane : NOBODY};

        if (problem.num_expert_group <= 8) /* three steps a round instead of five */
            write_best<8>(ranked, problem.topk_group, lane, kept_groups);
        else
            write_best<WARP_SIZE>(ranked, problem.topk_group, lane, kept_groups);
    }
    __syncthreads();
    // [groups]

    // [local]
    int place = NOBODY; /* of this warp's group among those kept */
    for (int i = 0; i < problem.topk_group; i++) {
        if (kept_groups[i].id == group) {
            place = i;
            break;
        }
    }
    if (place != NOBODY)
        write_best<WARP_SIZE>(mine, problem.topk, lane, group_best[place]);
    __syncthreads();
    // [local]

    // [last_warp]
    /* The other warps have nothing left to do, and no barrier follows. */
    if (group != 0)
        return;

    if (problem.topk_group <= 4)
        merge_best<4>(group_best, problem.topk_group, problem.topk, lane, chosen);
    else
        merge_best<WARP_SIZE>(group_best, problem.topk_group, problem.topk, lane, chosen);
    __syncwarp();
    // [last_warp]

    // [weights]
    const bool writes = lane < problem.topk;
    const int id = expert_of(writes ? chosen[lane].id : 0, problem.num_experts);
    float weight = writes ? expert_scores[id] : 0.0f;
    const float sum = round_to<T>(problem.topk <= 8 ? warp_sum<8>(weight) : warp_sum<WARP_SIZE>(weight));

    if (problem.renormalize && !isfinite(sum))
        weight = 0.0f;
    else if (problem.renormalize && sum != 0.0f)
        weight = round_to<T>(weight / sum);
    if (writes) {
        topk_weights[row * problem.topk + lane] = weight * problem.routed_scaling_factor;
        topk_ids[row * problem.topk + lane] = id;
    }
    // [weights]
}

// [launch]
template <typename T, typename Choice, typename Bias>
static cudaError_t launch(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    gate_kernel<T, Choice, Bias><<<(unsigned)problem->num_tokens, problem->num_expert_group * WARP_SIZE, 0, stream>>>(
        *problem, problem->num_experts / problem->num_expert_group, (const T *)buffers->gating_output,
        (const Bias *)buffers->correction_bias, buffers->topk_weights, buffers->topk_ids);
    return cudaGetLastError();
}
// [launch]

// [types]
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
// [types]
