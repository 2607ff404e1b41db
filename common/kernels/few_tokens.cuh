/**
 * @file common/kernels/few_tokens.cuh
 * @brief Chapter 13a's kernel: one block per token, one thread per expert, and a bound instead of selection rounds.
 * Chapter 13c launches it if there are few tokens.
 */
#ifndef GATE_FEW_TOKENS_CUH
#define GATE_FEW_TOKENS_CUH

#include "kernels/overlap.cuh"
#include "kernels/router.cuh"

// [few_token]
/** The shared memory of a block, which routes one token. */
template <typename Router>
struct block_shared {
    __align__(16) packed_candidate candidates[Router::EXPERTS];
    __align__(16) float chosen[Router::TOPK];
    float scores[Router::EXPERTS]; /* the candidates' scores */
    float group_scores[Router::GROUPS];
    unsigned second_largest[Router::GROUPS]; /* each group's second largest key */
    unsigned num_candidates;
};
// [few_token]

// [few_choose]
/**
 * Writes the ids of the TOPK highest-ranking candidates, and stores their scores in shared.chosen. The calling threads
 * rank AT_ONCE candidates at a time, with LANES neighbouring lanes per candidate.
 */
template <int LANES, int AT_ONCE, typename Router>
static __device__ __forceinline__ void choose_experts(block_shared<Router> &shared, unsigned count, int *topk_ids)
{
#pragma unroll 1
    for (unsigned first = 0; first < count; first += AT_ONCE) {
        const unsigned own = first + threadIdx.x / LANES;
        const packed_candidate candidate = shared.candidates[own];
        const float score = shared.scores[own];
        const int rank = rank_of<LANES, AT_ONCE>(candidate, shared.candidates, count);

        if ((candidate != 0) & (rank < Router::TOPK) & (threadIdx.x % LANES == 0)) {
            topk_ids[rank] = id_of(candidate);
            shared.chosen[rank] = score;
        }
    }
}
// [few_choose]

// [few_kernel]
/** Routes one token per block. The grid has one block per token, and each block has one thread per expert. */
template <typename Router, typename T, typename Choice, typename Bias>
static __global__ void __launch_bounds__(Router::EXPERTS)
    few_tokens_kernel(weighting params, const T *gating_output, const Bias *correction_bias, float *topk_weights,
                      int *topk_ids)
{
    __shared__ block_shared<Router> shared;
    const int64_t row = blockIdx.x;
    const unsigned expert = threadIdx.x, lane = expert % WARP_SIZE, group_of_lane = lane % Router::GROUPS;
    const float bias = correction_bias ? to_float(correction_bias[expert]) : 0.0f;
    // [few_kernel]

    // [few_wait]
    wait_for_previous_kernel(); /* the bias is loaded before, because no kernel writes it */
    let_next_kernel_start();
    // [few_wait]

    // [few_groups]
    const float score = exact_score(gating_output[row * Router::EXPERTS + expert]);
    const unsigned key = ordered_key(round_to<Choice>(score + bias));
    const two_keys best = two_largest_keys<Router::GROUP_SIZE>(key);

    shared.candidates[expert] = 0;
    shared.scores[expert] = 0.0f;
    if (expert == 0)
        shared.num_candidates = 0;
    if (expert % Router::GROUP_SIZE == 0) {
        shared.group_scores[expert / Router::GROUP_SIZE] = score_of_group<Choice>(
            choice_of(best.first), choice_of(best.second), correction_bias != NULL);
        shared.second_largest[expert / Router::GROUP_SIZE] = best.second;
    }
    __syncthreads();
    // [few_groups]

    // [few_bound]
    const float mine = shared.group_scores[group_of_lane];
    int rank = 0; /* number of groups that rank before this lane's group */

#pragma unroll
    for (int first = 0; first < Router::GROUPS; first += Router::GROUPS_PER_VOTE) {
        const unsigned number = first + lane / Router::GROUPS, other = number % Router::GROUPS;
        const float score_of_other = shared.group_scores[other];
        const bool before = (score_of_other > mine) | ((score_of_other == mine) & (other < group_of_lane));

        rank += __popc(__ballot_sync(FULL_MASK, before & (number < Router::GROUPS)) >> group_of_lane &
                       Router::GROUP_LANE_MASK);
    }

    const bool stays = rank < Router::TOPK_GROUP;
    const unsigned kept_groups_mask = __ballot_sync(FULL_MASK, stays);
    const unsigned bound = __reduce_min_sync(FULL_MASK, stays ? shared.second_largest[group_of_lane] : 0xffffffffu);
    // [few_bound]

    // [few_candidates]
    if ((key >= bound) & (kept_groups_mask >> expert / Router::GROUP_SIZE)) {
        const unsigned index = atomicAdd(&shared.num_candidates, 1u);

        shared.candidates[index] = pack_candidate(key, expert);
        shared.scores[index] = key != 0 ? score : 0.0f; /* an expert whose choice is NaN has weight 0 */
    }
    __syncthreads();
    // [few_candidates]

    // [few_rows]
    topk_weights += row * (Router::TOPK + params.num_shared_experts);
    topk_ids += row * (Router::TOPK + params.num_shared_experts);
    // [few_rows]

    // [few_slots]
    if (shared.num_candidates <= WARP_SIZE / 2) { /* few enough for the first warp alone */
        if (expert >= WARP_SIZE)
            return;
        choose_experts<2, WARP_SIZE / 2>(shared, WARP_SIZE / 2, topk_ids);
        __syncwarp();
    } else {
        choose_experts<Router::EXPERTS / WARP_SIZE, WARP_SIZE>(shared, shared.num_candidates, topk_ids);
        __syncthreads();
        if (expert >= WARP_SIZE)
            return;
    }
    // [few_slots]

    // [few_weights]
    float sum = 0.0f;

#pragma unroll
    for (int k = 0; k < Router::TOPK; k += 4) {
        const float4 four = *(const float4 *)(shared.chosen + k);

        sum += (four.x + four.y) + (four.z + four.w);
    }
    sum = round_to<T>(sum);
    if (lane < Router::TOPK)
        topk_weights[lane] = weight_of<T>(params, shared.chosen[lane], sum);
    // [few_weights]
    // [few_shared]
    store_shared_experts<Router, T>(params, sum, lane, WARP_SIZE, topk_weights, topk_ids);
    // [few_shared]
}

#endif
