/**
 * @file chapters/13_gate_at_the_limit/few_tokens.cuh
 * @brief Few tokens: a block each, a thread for every expert.
 */
#ifndef GATE_FEW_TOKENS_CUH
#define GATE_FEW_TOKENS_CUH

#include "router.cuh"

// [few_kernel]
/** Grid: a block for each token, with a thread for each expert. */
template <typename Router, typename T, typename Choice, typename Bias>
static __global__ void __launch_bounds__(Router::EXPERTS)
    few_tokens_kernel(weighting how, const T *gating_output, const Bias *correction_bias, float *topk_weights,
                      int *topk_ids)
{
    __shared__ float group_scores[Router::GROUPS], scores[Router::EXPERTS];
    __shared__ unsigned seconds[Router::GROUPS], count;
    __shared__ __align__(16) entry candidates[Router::EXPERTS];
    __shared__ __align__(16) float chosen[Router::TOPK];
    const int64_t token = blockIdx.x;
    const unsigned expert = threadIdx.x, lane = expert % WARP_SIZE, group_of_lane = lane % Router::GROUPS;
    // [few_kernel]

    // [few_groups]
    const float bias = correction_bias ? to_float(correction_bias[expert]) : 0.0f; /* while the logit comes */
    const float score = exact_score(gating_output[token * Router::EXPERTS + expert]);
    const unsigned key = ordered(round_to<Choice>(score + bias));
    const two_keys best = two_largest_keys<Router::COUNT>(key);

    candidates[expert] = 0;
    if (expert == 0)
        count = 0;
    if (expert % Router::COUNT == 0) {
        group_scores[expert / Router::COUNT] = score_of_group<Choice>(choice_of(best.first), choice_of(best.second),
                                                                      correction_bias != NULL);
        seconds[expert / Router::COUNT] = best.second;
    }
    __syncthreads();
    // [few_groups]

    // [few_bound]
    const float mine = group_scores[group_of_lane];
    int rank = 0; /* how many groups rank before this lane's */

#pragma unroll
    for (int first = 0; first < Router::GROUPS; first += Router::TOKENS) {
        const unsigned number = first + lane / Router::GROUPS, other = number % Router::GROUPS;
        const float score_of_other = group_scores[other];
        const bool before = (score_of_other > mine) | ((score_of_other == mine) & (other < group_of_lane));

        rank += __popc(__ballot_sync(FULL_MASK, before & (number < Router::GROUPS)) >> group_of_lane &
                       Router::LANES_OF_A_GROUP);
    }

    const bool stays = rank < Router::TOPK_GROUP;
    const unsigned groups = __ballot_sync(FULL_MASK, stays);
    const unsigned bound = __reduce_min_sync(FULL_MASK, stays ? seconds[group_of_lane] : 0xffffffffu);
    // [few_bound]

    // [few_candidates]
    if ((key >= bound) & (groups >> expert / Router::COUNT)) {
        const unsigned place = atomicAdd(&count, 1u);

        candidates[place] = entry_of(key, expert);
        scores[place] = key != 0 ? score : 0.0f; /* NaN has no weight */
    }
    __syncthreads();
    if (expert >= WARP_SIZE)
        return;
    // [few_candidates]

    // [few_places]
    topk_weights += token * (Router::TOPK + how.shared); /* the token's row */
    topk_ids += token * (Router::TOPK + how.shared);

    const bool halves = count <= WARP_SIZE / 2; /* a candidate has two lanes, and each looks at half of the others */
    const unsigned width = halves ? WARP_SIZE / 2 : WARP_SIZE;

    for (unsigned first = 0; first < count; first += width) {
        const entry candidate = candidates[first + lane % width];
        int place;

        if (halves) {
            place = place_of<8>(candidate, candidates + lane / width * 8, 8);
            place += __shfl_xor_sync(FULL_MASK, place, WARP_SIZE / 2);
        } else {
            place = place_of<16>(candidate, candidates, count);
        }
        if ((candidate != 0) & (place < Router::TOPK) & (lane < width)) {
            topk_ids[place] = id_of(candidate);
            chosen[place] = scores[first + lane];
        }
    }
    __syncwarp();
    // [few_places]

    // [few_weights]
    float sum = 0.0f;

#pragma unroll
    for (int k = 0; k < Router::TOPK; k += 4) {
        const float4 four = *(const float4 *)(chosen + k);

        sum += (four.x + four.y) + (four.z + four.w);
    }
    sum = round_to<T>(sum);
    if (lane < Router::TOPK)
        topk_weights[lane] = weight_of<T>(how, chosen[lane], sum);
    store_shared_experts<Router, T>(how, sum, lane, WARP_SIZE, topk_weights, topk_ids);
    // [few_weights]
}

#endif
