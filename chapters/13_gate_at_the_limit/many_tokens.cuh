/**
 * @file chapters/13_gate_at_the_limit/many_tokens.cuh
 * @brief Many tokens: a lane for each group, several tokens a warp.
 */
#ifndef GATE_MANY_TOKENS_CUH
#define GATE_MANY_TOKENS_CUH

#include "router.cuh"

#include <cuda_pipeline.h>
#include <math.h>

// [many_constants]
enum { WARPS_PER_BLOCK = 2 };
// [many_constants]

// [sigmoid]
/**
 * 1 / (1 + exp(-x)) by two rough instructions, as near as the checker asks. exp(-x) is 2^power, but for what rounding
 * added to power: the fused multiply-adds take it off. 0 or NaN for what has no finite exp(-x); NaN for infinities.
 */
static __device__ __forceinline__ float quick_sigmoid(float x)
{
    const float power = -1.4426950408889634f * x;
    const float lost = fmaf(power, 0.6931471805599453f, x);
    const float exponential = rough_exp2(power);

    return rough_reciprocal(fmaf(-lost, exponential, 1.0f + exponential));
}
// [sigmoid]

// [from_float]
template <typename T>
static __device__ __forceinline__ T from_float(float value);

template <>
__device__ __forceinline__ float from_float<float>(float value)
{
    return value;
}

template <>
__device__ __forceinline__ __half from_float<__half>(float value)
{
    return __float2half_rn(value);
}

template <>
__device__ __forceinline__ __nv_bfloat16 from_float<__nv_bfloat16>(float value)
{
    return __float2bfloat16_rn(value);
}
// [from_float]

// [two_choices]
/** The two largest of a lane's choices; NaN is the first if one of them is NaN. */
struct two_choices {
    float first, second;
};

template <int COUNT>
static __device__ __forceinline__ two_choices two_largest(const float (&choice)[COUNT])
{
    float first[COUNT / 2], second[COUNT / 2];

#pragma unroll
    for (int i = 0; i < COUNT / 2; i++) {
        first[i] = max_or_nan(choice[2 * i], choice[2 * i + 1]);
        second[i] = fminf(choice[2 * i], choice[2 * i + 1]);
    }
#pragma unroll
    for (int step = 1; step < COUNT / 2; step *= 2) {
#pragma unroll
        for (int i = 0; i < COUNT / 2; i += 2 * step) {
            second[i] = fmaxf(fminf(first[i], first[i + step]), fmaxf(second[i], second[i + step]));
            first[i] = max_or_nan(first[i], first[i + step]);
        }
    }
    return {first[0], second[0]};
}
// [two_choices]

// [tile]
/** What a warp has in shared memory. Behind each group's logits are 16 bytes of room, so that no two lanes meet in a bank. */
template <typename Router, typename T>
struct tile {
    static constexpr int STRIDE = Router::COUNT + 16 / sizeof(T);
    static constexpr int ROOM = 4 * Router::TOPK; /* for candidates of a token */

    T logits[WARP_SIZE * STRIDE]; /* group g of token t: lane t * GROUPS + g; then scores in their place */
    entry candidates[Router::TOKENS][ROOM + 8]; /* 64 bytes of room: two tokens, half a warp, meet in no bank */
    int chosen[Router::TOKENS][Router::TOPK];
};
// [tile]

// [fetch]
/** Asks for the rows of a warp's tokens, 16 bytes a lane and time. */
template <typename Router, typename T>
static __device__ __forceinline__ void fetch_rows(const T *rows, T *logits)
{
    constexpr int PIECE = 16 / sizeof(T), GROUP = Router::COUNT / PIECE;
    const int lane = threadIdx.x % WARP_SIZE;
    const T *const from = rows + lane * PIECE;
    T *const to = logits + (lane + lane / GROUP) * PIECE; /* behind each group a piece is left out */

#pragma unroll
    for (int first = 0; first < Router::TOKENS * Router::EXPERTS / PIECE; first += WARP_SIZE)
        __pipeline_memcpy_async(to + (first + first / GROUP) * PIECE, from + first * PIECE, 16);
    __pipeline_commit();
}
// [fetch]

// [choices]
/** The choices of a lane's group; its scores take the place of the logits. `bias` is in float. */
template <typename Choice, typename T, int COUNT>
static __device__ __forceinline__ void make_choices(T *logits, const float *bias, float (&choice)[COUNT])
{
    constexpr int PIECE = 16 / sizeof(T);

#pragma unroll
    for (int first = 0; first < COUNT; first += PIECE) {
        __align__(16) T piece[PIECE];

        *(int4 *)piece = *(const int4 *)(logits + first);
#pragma unroll
        for (int i = 0; i < PIECE; i++) {
            piece[i] = from_float<T>(quick_sigmoid(to_float(piece[i])));
            choice[first + i] = round_to<Choice>(to_float(piece[i]) + bias[first + i]);
        }
        *(int4 *)(logits + first) = *(const int4 *)piece;
    }
}
// [choices]

// [choose]
/**
 * Chooses among up to OWN * GROUPS candidates of a token: a lane has OWN. In `candidates` are ids; entries take their place. All
 * are compared with all, and `chosen` gets the ids of the first.
 */
template <int OWN, typename Router, typename Choice, typename T>
static __device__ __forceinline__ void choose(entry *candidates, unsigned count, const T *scores, const float *bias,
                                              int *chosen)
{
    constexpr int COUNT = Router::COUNT, GROUPS = Router::GROUPS, STRIDE = tile<Router, T>::STRIDE;
    const unsigned group = threadIdx.x % GROUPS;
    entry own[OWN];
    int place[OWN] = {};

#pragma unroll
    for (int k = 0; k < OWN; k++) {
        const unsigned i = k * GROUPS + group;

        own[k] = 0;
        if (i < count) {
            const unsigned id = (unsigned)candidates[i], of_group = id / COUNT, e = id % COUNT;
            const float score = to_float(scores[of_group * STRIDE + e]);

            own[k] = entry_of(ordered(round_to<Choice>(score + bias[of_group * (COUNT + 4) + e])), id);
        }
        candidates[i] = own[k];
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < OWN * GROUPS; i++) {
#pragma unroll
        for (int k = 0; k < OWN; k++)
            place[k] = plus_if_larger(place[k], candidates[i], own[k]);
    }
#pragma unroll
    for (int k = 0; k < OWN; k++)
        if ((int)(own[k] != 0) & (place[k] < Router::TOPK))
            chosen[place[k]] = id_of(own[k]);
}
// [choose]

// [many_kernel]
/** Grid: enough blocks of WARPS_PER_BLOCK warps for TOKENS tokens a warp. */
template <typename Router, typename T, typename Choice, typename Bias>
static __global__ void __launch_bounds__(WARPS_PER_BLOCK *WARP_SIZE, 16)
    many_tokens_kernel(weighting how, int64_t num_tokens, const T *gating_output, const Bias *correction_bias,
                       float *topk_weights, int *topk_ids)
{
    constexpr unsigned COUNT = Router::COUNT, GROUPS = Router::GROUPS, TOKENS = Router::TOKENS, TOPK = Router::TOPK;
    constexpr unsigned STRIDE = tile<Router, T>::STRIDE, ROOM = tile<Router, T>::ROOM, BIAS_STRIDE = COUNT + 4;
    constexpr unsigned THREADS = WARPS_PER_BLOCK * WARP_SIZE;
    __shared__ __align__(16) tile<Router, T> tiles[WARPS_PER_BLOCK];
    __shared__ __align__(16) float bias[GROUPS * BIAS_STRIDE];
    const unsigned warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const unsigned group = lane % GROUPS, token_of_warp = lane / GROUPS;
    const int64_t first_token = ((int64_t)blockIdx.x * WARPS_PER_BLOCK + warp) * TOKENS;
    const int64_t first_row = min(first_token, num_tokens - TOKENS); /* the last warp takes full rows, too */
    tile<Router, T> &own_tile = tiles[warp];
    entry *const candidates = own_tile.candidates[token_of_warp];
    // [many_kernel]

    // [many_load]
    fetch_rows<Router>(gating_output + first_row * Router::EXPERTS, own_tile.logits);
#pragma unroll
    for (unsigned first = 0; first < Router::EXPERTS; first += 4 * THREADS) {
        const unsigned e = first + 4 * threadIdx.x;
        float four[4] = {};

        if (Router::EXPERTS % (4 * THREADS) != 0 && e >= Router::EXPERTS)
            break;

        if (correction_bias)
            load_floats<false>(correction_bias + e, 4, four);
        *(float4 *)(bias + e / COUNT * BIAS_STRIDE + e % COUNT) = {four[0], four[1], four[2], four[3]};
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    if (first_token >= num_tokens)
        return;

    float choice[COUNT];

    make_choices<Choice>(own_tile.logits + lane * STRIDE, bias + group * BIAS_STRIDE, choice);
    // [many_load]

    // [many_bound]
    const two_choices best = two_largest(choice);
    const float group_score = correction_bias ? round_to<Choice>(best.first + best.second) : best.first;
    int rank = 0; /* how many groups rank before this one */

#pragma unroll
    for (unsigned i = 1; i < GROUPS; i++) {
        const float other = __shfl_xor_sync(FULL_MASK, group_score, i);

        rank += (other > group_score) | ((other == group_score) & ((group ^ i) < group));
    }

    const bool stays = rank < Router::TOPK_GROUP;
    float bound = stays ? best.second : INFINITY;

#pragma unroll
    for (int offset = GROUPS / 2; offset > 0; offset /= 2)
        bound = fminf(bound, __shfl_xor_sync(FULL_MASK, bound, offset));
    // [many_bound]

    // [many_candidates]
    unsigned low = 0, high = 0; /* a bit for each expert: the sign of its choice's distance from the bound */

#pragma unroll
    for (int e = COUNT / 2 - 1; e >= 0; e--) {
        low = __funnelshift_l(__float_as_uint(choice[e] - bound), low, 1);
        high = __funnelshift_l(__float_as_uint(choice[COUNT / 2 + e] - bound), high, 1);
    }

    unsigned passing = stays ? ~(high << COUNT / 2 | low) << (WARP_SIZE - COUNT) >> (WARP_SIZE - COUNT) : 0;
    unsigned end = __popc(passing); /* where this group's candidates end among the token's */

#pragma unroll
    for (unsigned offset = 1; offset < GROUPS; offset *= 2) {
        const unsigned before = __shfl_up_sync(FULL_MASK, end, offset, GROUPS);

        end += group >= offset ? before : 0;
    }

    unsigned count = __shfl_sync(FULL_MASK, end, GROUPS - 1, GROUPS);
    // [many_candidates]

    // [many_unsure]
    const bool unsure = isnan(best.first + best.second) | (fabsf(bound) == INFINITY) | (count > ROOM);
    const unsigned unsure_lanes = __ballot_sync(FULL_MASK, unsure);
    const bool by_rounds = (unsure_lanes & FULL_MASK >> (WARP_SIZE - GROUPS) << token_of_warp * GROUPS) != 0;

    count = by_rounds ? 0 : count;
    passing = by_rounds ? 0 : passing;
    // [many_unsure]

    // [many_entries]
    const unsigned most = __reduce_max_sync(FULL_MASK, count);

    for (entry *next = candidates + end - __popc(passing); passing != 0; next++) {
        const int e = WARP_SIZE - 1 - __clz((int)passing);

        *next = group * COUNT + e;
        passing ^= 1u << e;
    }
    __syncwarp();
    // [many_entries]

    // [many_places]
    int *const chosen = own_tile.chosen[token_of_warp];
    const T *const scores = own_tile.logits + token_of_warp * GROUPS * STRIDE;

    if (most <= 2 * GROUPS)
        choose<2, Router, Choice>(candidates, count, scores, bias, chosen);
    else if (most <= 3 * GROUPS)
        choose<3, Router, Choice>(candidates, count, scores, bias, chosen);
    else
        choose<ROOM / GROUPS, Router, Choice>(candidates, count, scores, bias, chosen);
    __syncwarp();
    // [many_places]

    // [many_weights]
    const int64_t token = first_row + token_of_warp;
    const bool chooses = !by_rounds & (group < TOPK);
    const unsigned id = chooses ? chosen[group] : 0;
    const float score = chooses ? to_float(scores[id / COUNT * STRIDE + id % COUNT]) : 0.0f;
    const float sum = round_to<T>(token_sum(score, GROUPS));

    if (!by_rounds & (token >= first_token)) {
        float *const weights = topk_weights + token * (TOPK + how.shared);
        int *const ids = topk_ids + token * (TOPK + how.shared);

        if (group < TOPK) {
            weights[group] = weight_of<T>(how, score, sum);
            ids[group] = (int)id;
        }
        store_shared_experts<Router, T>(how, sum, group, GROUPS, weights, ids);
    }
    // [many_weights]

    // [many_rounds]
    if (unsure_lanes == 0)
        return;
    for (unsigned t = 0; t < TOKENS; t++)
        if ((unsure_lanes & FULL_MASK >> (WARP_SIZE - GROUPS) << t * GROUPS) && first_row + t >= first_token)
            choose_by_rounds<Router, T, Choice>(how, gating_output + (first_row + t) * Router::EXPERTS, correction_bias,
                                                topk_weights + (first_row + t) * (TOPK + how.shared),
                                                topk_ids + (first_row + t) * (TOPK + how.shared));
    // [many_rounds]
}

#endif
