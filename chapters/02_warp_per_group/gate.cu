/**
 * @file gate.cu
 * @brief Chapter 02: a block per token, a warp per group, a lane per expert.
 *
 * Before: PyTorch makes 21 launches, which pass tensors to each other through global memory.
 * Now:    one launch. Lanes find the best candidate with shuffles; warps exchange a few numbers in shared memory.
 * Watch:  a single launch; shuffles and barriers per token; the divergent branch in better().
 */
#include "harness/gate/gate.h"
#include "kernels/block_softmax.cuh"

#include <math.h>

// [constants]
enum { WARP_SIZE = 32, MAX_GROUPS = 32, MAX_TOPK = 32, NO_EXPERT = 0x7fffffff };

static const unsigned FULL_MASK = 0xffffffffu;
// [constants]

// [warp_best]
/** A value and the id of its expert or group, which top-k compares as a unit. */
struct candidate {
    float value;
    int id;
};

/** Returns the higher-ranking candidate: the one with the larger value or, if the values are equal, the lower id. */
static __device__ candidate better(candidate mine, candidate other)
{
    if (other.value >= mine.value && (other.value > mine.value || other.id < mine.id))
        mine = other;
    return mine;
}

/** Returns the best of the 32 lanes' candidates to every lane. All 32 lanes must call it. */
static __device__ __forceinline__ candidate warp_best(candidate mine)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
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
 * Returns the warp's best choice, or the sum of its two best, to every lane. In each step, two lanes merge their two
 * best values each: the smaller `first` competes with both `second`s, so a value that occurs twice counts twice.
 */
static __device__ float score_of_group(float choice, bool has_bias)
{
    float first = choice, second = -INFINITY;

    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        const float other_first = __shfl_xor_sync(FULL_MASK, first, offset);
        const float other_second = __shfl_xor_sync(FULL_MASK, second, offset);

        second = fmaxf(fminf(first, other_first), fmaxf(second, other_second));
        first = fmaxf(first, other_first);
    }

    const float sum = first + second;

    return !has_bias ? first : isnan(sum) ? -INFINITY : sum; /* +infinity plus -infinity is NaN */
}
// [group_score]

// [rounds]
/** Writes the `count` best of the lanes' candidates in descending order; each round finds and removes the best one. */
static __device__ void write_best(candidate mine, int count, int lane, candidate *best_first)
{
    const candidate no_candidate = {-INFINITY, NO_EXPERT};

    for (int k = 0; k < count; k++) {
        const candidate best = warp_best(mine);

        if (lane == 0)
            best_first[k] = best;
        if (best.id == mine.id)
            mine = no_candidate;
    }
}
// [rounds]

// [merge]
/** Merges sorted lists: lane i offers the head of list i, and the lane whose head wins advances to its next entry. */
static __device__ void merge_best(const candidate lists[][MAX_TOPK], int num_lists, int count, int lane,
                                  candidate *best_first)
{
    const candidate no_candidate = {-INFINITY, NO_EXPERT};
    int next = 0;

    for (int k = 0; k < count; k++) {
        const candidate head = lane < num_lists ? lists[lane][next] : no_candidate;
        const candidate best = warp_best(head);

        if (lane == 0)
            best_first[k] = best;
        if (best.id == head.id)
            next++;
    }
}
// [merge]

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
static __global__ void gate_kernel(gate_problem problem, int experts_per_group, const float *gating_output,
                                   const float *correction_bias, float *topk_weights, int *topk_ids)
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
    const int group = __shfl_sync(FULL_MASK, (int)threadIdx.x / WARP_SIZE, 0); /* so nvcc knows it is warp-uniform */
    const int expert = group * experts_per_group + lane;
    const bool has_expert = lane < experts_per_group;
    const size_t row = blockIdx.x;
    // [who]

    // [score]
    /* Both loads are issued before the score is computed, so that their latencies overlap. */
    float score = has_expert ? gating_output[row * problem.num_experts + expert] : -INFINITY;
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
        mine = {-INFINITY, expert + problem.num_experts};
        expert_scores[expert] = 0.0f;
    }
    // [nan]

    // [groups]
    const float group_score = score_of_group(mine.value, correction_bias != NULL);

    if (lane == 0)
        group_scores[group] = group_score;
    __syncthreads();

    if (group == 0) {
        candidate group_candidate = {-INFINITY, NO_EXPERT};

        if (lane < problem.num_expert_group)
            group_candidate = {group_scores[lane], lane};
        write_best(group_candidate, problem.topk_group, lane, kept_groups);
    }
    __syncthreads();
    // [groups]

    // [local]
    int rank = 0; /* index of this warp's group in kept_groups */
    while (rank < problem.topk_group && kept_groups[rank].id != group)
        rank++;
    if (rank < problem.topk_group)
        write_best(mine, problem.topk, lane, group_best[rank]);
    __syncthreads();
    // [local]

    // [last_warp]
    /* Only warp 0 still has work, and no barrier follows, so the other warps may return. */
    if (group != 0)
        return;

    merge_best(group_best, problem.topk_group, problem.topk, lane, chosen);
    __syncwarp();
    // [last_warp]

    // [weights]
    const bool writes = lane < problem.topk;
    const int id = expert_of(writes ? chosen[lane].id : 0, problem.num_experts);
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
cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream)
{
    if (problem->num_tokens == 0) /* launching an empty grid is an error */
        return cudaSuccess;
    gate_kernel<<<(unsigned)problem->num_tokens, problem->num_expert_group * WARP_SIZE, 0, stream>>>(
        *problem, problem->num_experts / problem->num_expert_group, (const float *)buffers->gating_output,
        (const float *)buffers->correction_bias, buffers->topk_weights, buffers->topk_ids);
    return cudaGetLastError();
}
// [launch]
