/**
 * @file chapters/13b_gate_lane_per_group/many_tokens.cuh
 * @brief The kernel for many tokens: one lane per group, several tokens per warp. gate.cu launches it.
 */
#ifndef GATE_MANY_TOKENS_CUH
#define GATE_MANY_TOKENS_CUH

#include "kernels/overlap.cuh"
#include "kernels/router.cuh"

#include <cuda_pipeline.h>

// [two_choices]
/** Returns the two largest of a lane's keys, which may be equal. */
template <int GROUP_SIZE>
static __device__ __forceinline__ two_keys two_largest(const unsigned (&key)[GROUP_SIZE])
{
    two_keys best = {0, 0};

    for (int e = 0; e < GROUP_SIZE; e++) {
        best.second = max(best.second, min(best.first, key[e]));
        best.first = max(best.first, key[e]);
    }
    return best;
}
// [two_choices]

// [tile]
/**
 * The shared memory of a warp. 16 bytes of padding after each group place the groups of a token's lanes in different
 * banks.
 */
template <typename Router, typename T>
struct warp_shared {
    static constexpr int STRIDE = Router::GROUP_SIZE + 16 / sizeof(T);
    static constexpr int BIAS_STRIDE = Router::GROUP_SIZE + 4;

    __align__(16) T logits[WARP_SIZE * STRIDE]; /* row t * GROUPS + g holds group g of token t */
    __align__(16) float bias[Router::GROUPS * BIAS_STRIDE];
    /* One extra position, so that the tokens' lists begin in different banks. */
    packed_candidate candidates[Router::TOKENS_PER_WARP][Router::EXPERTS + 1];
    packed_candidate chosen[Router::TOKENS_PER_WARP][Router::TOPK];
};
// [tile]

// [fetch]
/** Starts copying the rows of a warp's tokens, 16 bytes per lane; for tokens past the last one, copies the last row. */
template <typename Router, typename T>
static __device__ __forceinline__ void fetch_rows(const T *gating_output, int64_t first_token, int64_t num_tokens,
                                                  T *logits)
{
    constexpr int CHUNK = 16 / sizeof(T), GROUP = Router::GROUP_SIZE / CHUNK, ROW = Router::EXPERTS / CHUNK;
    const int lane = threadIdx.x % WARP_SIZE;

    for (int chunk = lane; chunk < Router::TOKENS_PER_WARP * ROW; chunk += WARP_SIZE) {
        const int64_t token = min(first_token + chunk / ROW, num_tokens - 1);
        const int4 *const from = (const int4 *)(gating_output + token * Router::EXPERTS) + chunk % ROW;

        __pipeline_memcpy_async((int4 *)logits + chunk + chunk / GROUP, from, 16);
    }
    __pipeline_commit();
}
// [fetch]

// [choices]
/** Computes the keys of a lane's group from its logits, one 16-byte chunk at a time. */
template <typename Choice, typename T, int GROUP_SIZE>
static __device__ __forceinline__ void make_keys(const T *logits, const float *bias, unsigned (&key)[GROUP_SIZE])
{
    constexpr int CHUNK = 16 / sizeof(T);

    for (int first = 0; first < GROUP_SIZE; first += CHUNK) {
        __align__(16) T chunk[CHUNK];

        *(int4 *)chunk = *(const int4 *)(logits + first);
        for (int i = 0; i < CHUNK; i++)
            key[first + i] = ordered_key(round_to<Choice>(exact_score(chunk[i]) + bias[first + i]));
    }
}
// [choices]

// [choose]
/** Stores the TOPK highest-ranking of a token's `count` candidates, each at the index given by its rank. */
template <int TOPK, int GROUPS>
static __device__ __forceinline__ void choose_topk(const packed_candidate *candidates, int count,
                                                   packed_candidate *chosen)
{
    for (int own = threadIdx.x % GROUPS; own < count; own += GROUPS) {
        const packed_candidate candidate = candidates[own];
        int rank = 0;

        for (int i = 0; i < count; i++)
            rank += candidates[i] > candidate;
        if (rank < TOPK)
            chosen[rank] = candidate;
    }
}
// [choose]

// [many_kernel]
/** Routes TOKENS_PER_WARP tokens. Grid: one single-warp block for every TOKENS_PER_WARP tokens. */
template <typename Router, typename T, typename Choice, typename Bias>
static __global__ void __launch_bounds__(WARP_SIZE)
    many_tokens_kernel(weighting params, int64_t num_tokens, const T *gating_output, const Bias *correction_bias,
                       float *topk_weights, int *topk_ids)
{
    constexpr int EXPERTS = Router::EXPERTS, GROUP_SIZE = Router::GROUP_SIZE, GROUPS = Router::GROUPS,
                  TOPK = Router::TOPK;
    constexpr int STRIDE = warp_shared<Router, T>::STRIDE, BIAS_STRIDE = warp_shared<Router, T>::BIAS_STRIDE;
    __shared__ warp_shared<Router, T> shared;
    const int lane = threadIdx.x % WARP_SIZE, group = lane % GROUPS, token_in_warp = lane / GROUPS;
    const int64_t first_token = (int64_t)blockIdx.x * Router::TOKENS_PER_WARP;
    // [many_kernel]

    // [many_load]
    wait_for_previous_kernel();
    let_next_kernel_start();
    fetch_rows<Router>(gating_output, first_token, num_tokens, shared.logits);
    for (int e = lane; e < EXPERTS; e += WARP_SIZE)
        shared.bias[e / GROUP_SIZE * BIAS_STRIDE + e % GROUP_SIZE] = correction_bias ? to_float(correction_bias[e])
                                                                                     : 0.0f;
    __pipeline_wait_prior(0);
    __syncwarp();

    unsigned key[GROUP_SIZE];

    make_keys<Choice>(shared.logits + lane * STRIDE, shared.bias + group * BIAS_STRIDE, key);
    // [many_load]

    // [many_bound]
    const two_keys best = two_largest(key);
    const float group_score = score_of_group<Choice>(choice_of(best.first), choice_of(best.second),
                                                     correction_bias != NULL);
    int rank = 0; /* number of groups that rank before this lane's group */

    for (int i = 1; i < GROUPS; i++) {
        const float other = __shfl_xor_sync(FULL_MASK, group_score, i);

        rank += (other > group_score) | ((other == group_score) & ((group ^ i) < group));
    }

    const bool stays = rank < Router::TOPK_GROUP;
    unsigned bound = stays ? best.second : 0xffffffffu;

    for (int offset = GROUPS / 2; offset > 0; offset /= 2)
        bound = min(bound, __shfl_xor_sync(FULL_MASK, bound, offset));
    // [many_bound]

    // [many_candidates]
    int own_count = 0;

    for (int e = 0; e < GROUP_SIZE; e++)
        own_count += stays & (key[e] >= bound);

    int end = own_count; /* end of this group's candidates in the token's list */

    for (int offset = 1; offset < GROUPS; offset *= 2) {
        const int before = __shfl_up_sync(FULL_MASK, end, offset, GROUPS);

        end += group >= offset ? before : 0;
    }

    const int count = __shfl_sync(FULL_MASK, end, GROUPS - 1, GROUPS);
    int next = end - own_count;

    for (int e = 0; e < GROUP_SIZE; e++)
        if (stays & (key[e] >= bound))
            shared.candidates[token_in_warp][next++] = pack_candidate(key[e], group * GROUP_SIZE + e);
    __syncwarp();
    // [many_candidates]

    // [many_slots]
    choose_topk<TOPK, GROUPS>(shared.candidates[token_in_warp], count, shared.chosen[token_in_warp]);
    __syncwarp();
    // [many_slots]

    // [many_weights]
    const int64_t token = first_token + token_in_warp;
    const packed_candidate winner = group < TOPK ? shared.chosen[token_in_warp][group] : 0;
    const int id = winner != 0 ? id_of(winner) : 0, row = token_in_warp * GROUPS + id / GROUP_SIZE;
    const bool has_weight = winner >> 32 != 0; /* an expert whose choice is NaN gets weight 0 */
    const float score = has_weight ? exact_score(shared.logits[row * STRIDE + id % GROUP_SIZE]) : 0.0f;
    const float sum = round_to<T>(token_sum(score, GROUPS));

    if (token < num_tokens) {
        float *const weights = topk_weights + token * (TOPK + params.num_shared_experts);
        int *const ids = topk_ids + token * (TOPK + params.num_shared_experts);

        if (group < TOPK) {
            weights[group] = weight_of<T>(params, score, sum);
            ids[group] = id;
        }
        store_shared_experts<Router, T>(params, sum, group, GROUPS, weights, ids);
    }
    // [many_weights]
}

#endif
