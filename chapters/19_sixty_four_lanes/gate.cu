/**
 * @file gate.cu
 * @brief Chapter 19: the gate for GPUs whose warps (waves) have 64 lanes.
 *
 * Before: in chapters 02 and 03, a wave of such a GPU processes two groups; if one of them is dropped, its 32 lanes are
 *         idle.
 * Now:    the kept groups are packed two to a wave; one vote of 64 lanes ranks eight groups; one wave merges up to
 *         eight lists of eight candidates, with one lane per candidate.
 * Watch:  shuffles, block barriers and active lanes.
 */
#include "harness/gate/gate.h"
#include "kernels/block_softmax.cuh"

#include <math.h>

// [constants]
enum { WAVE_SIZE = 64, HALF_SIZE = 32, MAX_GROUPS = 8, MAX_TOPK = 8, NO_EXPERT = 0x7fffffff };
// [constants]

// [candidate]
/** A value, and the id of the expert or group that it belongs to; top-k compares candidates. */
struct candidate {
    float value;
    int id;
};

/** Returns whether `a` ranks before `b`: it has the larger value or, if the values are equal, the lower id. */
static __device__ __forceinline__ bool ranks_before(candidate a, candidate b)
{
    return (a.value > b.value) | ((a.value == b.value) & (a.id < b.id));
}

/** Returns `a` if `take_a` is true, else `b`. */
static __device__ __forceinline__ candidate select(bool take_a, candidate a, candidate b)
{
    const float a_value = a.value, b_value = b.value;
    const int a_id = a.id, b_id = b.id;

    return {take_a ? a_value : b_value, take_a ? a_id : b_id};
}
// [candidate]

// [better]
/** Returns the candidate of the lane whose number is this lane's number XOR `lanes`. */
static __device__ __forceinline__ candidate from_lane_xor(candidate mine, int lanes)
{
    return {__shfl_xor(mine.value, lanes), __shfl_xor(mine.id, lanes)};
}
// [better]

// [half_best]
/** Returns the best candidate of a half wave to its 32 lanes: exchanges at offsets below 32 stay within the half. */
static __device__ __forceinline__ candidate half_best(candidate mine)
{
    for (int offset = HALF_SIZE / 2; offset > 0; offset /= 2) {
        const candidate other = from_lane_xor(mine, offset);

        mine = select(ranks_before(other, mine), other, mine);
    }
    return mine;
}
// [half_best]

// [group_score]
/**
 * Returns the best choice of a half wave, or the sum of its two best choices, to all of its 32 lanes, as in chapter 03.
 */
static __device__ float score_of_group(float choice, bool has_bias)
{
    float first = choice, second = -INFINITY;

    for (int offset = HALF_SIZE / 2; offset > 0; offset /= 2) {
        const float other_first = __shfl_xor(first, offset);
        const float other_second = __shfl_xor(second, offset);

        second = fmaxf(fminf(first, other_first), fmaxf(second, other_second));
        first = fmaxf(first, other_first);
    }

    const float sum = first + second;

    return !has_bias ? first : isnan(sum) ? -INFINITY : sum; /* NaN: the two are +infinity and -infinity */
}
// [group_score]

// [rank]
/**
 * Returns the rank of group lane / 8, from 0: the number of groups that rank before it. All 64 lanes must call this
 * function.
 */
static __device__ int rank_of_group(const float *group_scores, int num_groups, int lane)
{
    const int group = lane / MAX_GROUPS, rival = lane % MAX_GROUPS;
    const candidate mine = {group < num_groups ? group_scores[group] : -INFINITY, group};
    const candidate other = {rival < num_groups ? group_scores[rival] : -INFINITY, rival};
    const unsigned long long before = __ballot(ranks_before(other, mine));

    return __popcll(before >> (group * MAX_GROUPS) & 0xff);
}
// [rank]

// [rounds]
/** Writes the `count` best of 32 lanes' candidates, best first: each round finds the best and removes it. */
static __device__ void write_best(candidate mine, int count, int half_lane, candidate *best_first)
{
    const candidate no_candidate = {-INFINITY, NO_EXPERT};

    for (int k = 0; k < count; k++) {
        const candidate best = half_best(mine);

        if (half_lane == 0)
            best_first[k] = best;
        mine = select(best.id == mine.id, no_candidate, mine);
    }
}
// [rounds]

// [merge]
/**
 * Merges eight sorted lists of eight candidates. Lane 8 * i + k supplies entry k of list i and receives entry k of the
 * eight best candidates. Each level merges pairs of lists in four steps and leaves the result in the lanes of both
 * lists. All 64 lanes must call this function.
 */
static __device__ candidate merge_lists(candidate mine, int lane)
{
    for (int distance = MAX_TOPK; distance < WAVE_SIZE; distance *= 2) {
        const candidate rival = from_lane_xor(mine, distance + MAX_TOPK - 1); /* entry 7 - k of the other list */

        mine = select(ranks_before(rival, mine), rival, mine);
        for (int offset = MAX_TOPK / 2; offset > 0; offset /= 2) {
            const bool is_lower = (lane & offset) == 0; /* the lower lane keeps the better candidate */
            const candidate other = from_lane_xor(mine, offset);

            mine = select(ranks_before(other, mine) == is_lower, other, mine);
        }
    }
    return mine;
}
// [merge]

// [signature]
/** Routes tokens. Grid: one block per token. Block: one wave per two groups. correction_bias may be NULL. */
static __global__ void gate_kernel(gate_problem problem, int experts_per_group, const float *gating_output,
                                   const float *correction_bias, float *topk_weights, int *topk_ids)
{
    // [signature]
    // [shared]
    __shared__ float group_scores[MAX_GROUPS];
    __shared__ float expert_scores[MAX_GROUPS * HALF_SIZE];
    __shared__ candidate choices[MAX_GROUPS][HALF_SIZE];
    __shared__ candidate group_best[MAX_GROUPS][MAX_TOPK];
    // [shared]

    // [who]
    const int lane = threadIdx.x % WAVE_SIZE, wave = threadIdx.x / WAVE_SIZE;
    const int half_lane = lane % HALF_SIZE, half_wave = threadIdx.x / HALF_SIZE;
    const int expert = half_wave * experts_per_group + half_lane;
    const bool has_expert = half_wave < problem.num_expert_group && half_lane < experts_per_group;
    const size_t row = blockIdx.x;
    const candidate no_candidate = {-INFINITY, NO_EXPERT};
    // [who]

    // [score]
    float score = has_expert ? gating_output[row * problem.num_experts + expert] : -INFINITY;
    const float bias = has_expert && correction_bias ? correction_bias[expert] : 0.0f;

    if (problem.score == GATE_SCORE_SIGMOID)
        score = 1.0f / (1.0f + expf(-score));
    else if (problem.score == GATE_SCORE_SOFTMAX)
        score = block_softmax(score, has_expert);

    candidate mine = has_expert ? candidate{score + bias, expert} : no_candidate;

    if (has_expert && isnan(mine.value)) { /* ranks below all other experts, with weight 0 */
        mine = {-INFINITY, expert + problem.num_experts};
        score = 0.0f;
    }
    if (has_expert)
        expert_scores[expert] = score;
    // [score]

    // [groups]
    const float group_score = score_of_group(mine.value, correction_bias != NULL);

    if (half_lane == 0)
        group_scores[half_wave] = group_score;
    choices[half_wave][half_lane] = mine;
    __syncthreads();

    const int rank = rank_of_group(group_scores, problem.num_expert_group, lane);
    // [groups]

    // [local]
    /* Half h processes the group of rank h, so the kept groups fill whole waves. */
    const unsigned long long of_first = __ballot(rank == 2 * wave), of_second = __ballot(rank == 2 * wave + 1);
    const int group = (__ffsll(lane < HALF_SIZE ? of_first : of_second) - 1) / MAX_GROUPS;

    if (half_wave < problem.topk_group)
        write_best(choices[group][half_lane], problem.topk, half_lane, group_best[half_wave]);
    __syncthreads();
    // [local]

    // [last_wave]
    if (wave != 0)
        return;

    const int list = lane / MAX_TOPK, entry = lane % MAX_TOPK;

    mine = list < problem.topk_group && entry < problem.topk ? group_best[list][entry] : no_candidate;

    const candidate chosen = merge_lists(mine, lane);
    // [last_wave]

    // [weights]
    const bool is_chosen = entry < problem.topk;
    const int id = chosen.id < problem.num_experts ? chosen.id : chosen.id - problem.num_experts;
    float weight = is_chosen ? expert_scores[id] : 0.0f;
    float sum = weight;

    for (int offset = MAX_TOPK / 2; offset > 0; offset /= 2)
        sum += __shfl_xor(sum, offset);
    if (problem.renormalize && sum != 0.0f)
        weight = isfinite(sum) ? weight / sum : 0.0f;
    if (lane < problem.topk) {
        topk_weights[row * problem.topk + lane] = weight * problem.routed_scaling_factor;
        topk_ids[row * problem.topk + lane] = id;
    }
    // [weights]
}

// [launch]
cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream)
{
    const int num_waves = (problem->num_expert_group + 1) / 2;

    if (problem->num_tokens == 0) /* an empty grid is a launch error */
        return cudaSuccess;
    gate_kernel<<<(unsigned)problem->num_tokens, num_waves * WAVE_SIZE, 0, stream>>>(
        *problem, problem->num_experts / problem->num_expert_group, (const float *)buffers->gating_output,
        (const float *)buffers->correction_bias, buffers->topk_weights, buffers->topk_ids);
    return cudaGetLastError();
}
// [launch]
