/**
 * @file chapters/13c_gate_fewer_instructions/many_tokens.cuh
 * @brief The kernel for many tokens: one lane per group, several tokens per warp. gate.cu launches it.
 */
#ifndef GATE_MANY_TOKENS_CUH
#define GATE_MANY_TOKENS_CUH

#include "kernels/overlap.cuh"
#include "kernels/router.cuh"

#include <cuda_pipeline.h>
#include <math.h>

// [sigmoid]
/**
 * Returns 1 / (1 + exp(-x)), computed by two approximate instructions, within the checker's tolerance. The rounding
 * error of `exponent`, times ln 2, is used to correct the exponential. Returns 0 or NaN if exp(-x) is infinite, and NaN
 * if x is NaN.
 */
static __device__ __forceinline__ float approx_sigmoid(float x)
{
    const float exponent = -1.4426950408889634f * x;
    const float rounding_error = fmaf(exponent, 0.6931471805599453f, x);
    const float exponential = approx_exp2(exponent);

    return approx_reciprocal(fmaf(-rounding_error, exponential, 1.0f + exponential));
}
// [sigmoid]

// [is_below]
/**
 * Returns 1 if a is below b, else 0: the sign bit of a - b. Neither a nor b may be NaN. On a GPU, inf - inf has sign
 * bit 0.
 */
static __device__ __forceinline__ unsigned is_below(float a, float b)
{
    return __float_as_uint(a - b) >> 31;
}
// [is_below]

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

// [two_largest_choices]
/** The two largest of a lane's choices. `first` is NaN if any choice is NaN. */
struct two_largest_choices {
    float first, second;
};

template <int GROUP_SIZE>
static __device__ __forceinline__ two_largest_choices two_largest(const float (&choice)[GROUP_SIZE])
{
    float first[GROUP_SIZE / 2], second[GROUP_SIZE / 2];

#pragma unroll
    for (int i = 0; i < GROUP_SIZE / 2; i++) {
        first[i] = max_or_nan(choice[2 * i], choice[2 * i + 1]);
        second[i] = fminf(choice[2 * i], choice[2 * i + 1]);
    }
#pragma unroll
    for (int step = 1; step < GROUP_SIZE / 2; step *= 2) {
#pragma unroll
        for (int i = 0; i < GROUP_SIZE / 2; i += 2 * step) {
            second[i] = fmaxf(fminf(first[i], first[i + step]), fmaxf(second[i], second[i + step]));
            first[i] = max_or_nan(first[i], first[i + step]);
        }
    }
    return {first[0], second[0]};
}
// [two_largest_choices]

// [tile]
/**
 * The shared memory of a warp. 16 bytes of padding after each group place the groups of a token's lanes in different
 * banks.
 */
template <typename Router, typename T>
struct warp_shared {
    static constexpr int STRIDE = Router::GROUP_SIZE + 16 / sizeof(T);
    static constexpr int BIAS_STRIDE = Router::GROUP_SIZE + 4;
    static constexpr int CAPACITY = 4 * Router::TOPK; /* capacity of a token's list of candidates */

    T logits[WARP_SIZE * STRIDE]; /* row t * GROUPS + g holds group g of token t, first its logits, later its scores */
    float bias[Router::GROUPS * BIAS_STRIDE];
    /* 32 bytes of padding after each token's list place the tokens' accesses in different banks. */
    __align__(16) float choices[Router::TOKENS_PER_WARP][CAPACITY + 8];
    int ids[Router::TOKENS_PER_WARP][CAPACITY + 8];
    int2 chosen[Router::TOKENS_PER_WARP][Router::TOPK]; /* an expert and the bits of its score, read in one access */
};
// [tile]

// [fetch]
/** Starts copying the rows of a warp's tokens, 16 bytes per lane. */
template <typename Router, typename T>
static __device__ __forceinline__ void fetch_rows(const T *rows, T *logits)
{
    constexpr int CHUNK = 16 / sizeof(T), GROUP = Router::GROUP_SIZE / CHUNK;
    const int lane = threadIdx.x % WARP_SIZE;
    const int4 *const from = (const int4 *)rows + lane;
    int4 *const to = (int4 *)logits + lane + lane / GROUP; /* a chunk of padding follows each group */

#pragma unroll
    for (int first = 0; first < Router::TOKENS_PER_WARP * Router::EXPERTS / CHUNK; first += WARP_SIZE)
        __pipeline_memcpy_async(to + first + first / GROUP, from + first, 16);
    __pipeline_commit();
}
// [fetch]

// [choices]
/** Computes the choices of a lane's group, and overwrites the group's logits with its scores. */
template <typename Choice, typename T, int GROUP_SIZE>
static __device__ __forceinline__ void make_choices(T *logits, const float *bias, float (&choice)[GROUP_SIZE])
{
    constexpr int CHUNK = 16 / sizeof(T);

#pragma unroll
    for (int first = 0; first < GROUP_SIZE; first += CHUNK) {
        __align__(16) T chunk[CHUNK];

        *(int4 *)chunk = *(const int4 *)(logits + first);
#pragma unroll
        for (int i = 0; i < CHUNK; i++) {
            chunk[i] = from_float<T>(approx_sigmoid(to_float(chunk[i])));
            choice[first + i] = round_to<Choice>(to_float(chunk[i]) + bias[first + i]);
        }
        *(int4 *)(logits + first) = *(const int4 *)chunk;
    }
}
// [choices]

// [slots]
/**
 * Computes the ranks of a lane's choices: the number of choices that rank before each one. Equal choices all get the
 * last of their ranks.
 */
template <int CANDIDATES_PER_LANE, int GROUPS>
static __device__ __forceinline__ void count_ranks(const float *choices, const float (&own_choice)[CANDIDATES_PER_LANE],
                                                   int (&rank)[CANDIDATES_PER_LANE])
{
#pragma unroll
    for (int k = 0; k < CANDIDATES_PER_LANE; k++)
        rank[k] = CANDIDATES_PER_LANE * GROUPS - 1;
#pragma unroll
    for (int i = 0; i < CANDIDATES_PER_LANE * GROUPS; i += 4) {
        const float4 four = *(const float4 *)(choices + i);

#pragma unroll
        for (int k = 0; k < CANDIDATES_PER_LANE; k++) {
            rank[k] -= is_below(four.x, own_choice[k]);
            rank[k] -= is_below(four.y, own_choice[k]);
            rank[k] -= is_below(four.z, own_choice[k]);
            rank[k] -= is_below(four.w, own_choice[k]);
        }
    }
}
// [slots]

// [equals]
/** Moves each choice before equal choices that follow it in the list, because these choices have higher ids. */
template <int CANDIDATES_PER_LANE, int GROUPS>
static __device__ __forceinline__ void break_ties(const float *choices, const float (&own_choice)[CANDIDATES_PER_LANE],
                                                  int (&rank)[CANDIDATES_PER_LANE])
{
    const int group = threadIdx.x % GROUPS;

#pragma unroll 1
    for (int i = 0; i < CANDIDATES_PER_LANE * GROUPS; i += 4) {
        const float4 four = *(const float4 *)(choices + i);

#pragma unroll
        for (int k = 0; k < CANDIDATES_PER_LANE; k++) {
            const int own_i = k * GROUPS + group;

            rank[k] -= (four.x == own_choice[k]) & (i > own_i);
            rank[k] -= (four.y == own_choice[k]) & (i + 1 > own_i);
            rank[k] -= (four.z == own_choice[k]) & (i + 2 > own_i);
            rank[k] -= (four.w == own_choice[k]) & (i + 3 > own_i);
        }
    }
}
// [equals]

// [choose]
/**
 * Chooses among a token's `count` candidates, listed in ascending order of id: at most CANDIDATES_PER_LANE in each
 * lane. Compares every pair and stores the best TOPK in shared.chosen. A token on the slow path has a count of 0.
 */
template <int CANDIDATES_PER_LANE, typename Router, typename Choice, typename T>
static __device__ __forceinline__ void choose_topk(warp_shared<Router, T> &shared, int token_in_warp, int count)
{
    constexpr int GROUP_SIZE = Router::GROUP_SIZE, GROUPS = Router::GROUPS, TOPK = Router::TOPK;
    constexpr int STRIDE = warp_shared<Router, T>::STRIDE, BIAS_STRIDE = warp_shared<Router, T>::BIAS_STRIDE;
    const int group = threadIdx.x % GROUPS, first_bit = token_in_warp * TOPK; /* the token's first bit in `taken` */
    const T *const scores = shared.logits + token_in_warp * GROUPS * STRIDE;
    float *const choices = shared.choices[token_in_warp];
    float own_choice[CANDIDATES_PER_LANE];
    int2 candidate[CANDIDATES_PER_LANE];
    int rank[CANDIDATES_PER_LANE];

#pragma unroll
    for (int k = 0; k < CANDIDATES_PER_LANE; k++) {
        const int i = k * GROUPS + group;
        const unsigned id = i < count ? shared.ids[token_in_warp][i] : 0, of_group = id / GROUP_SIZE,
                       e = id % GROUP_SIZE;

        const float score = to_float(scores[of_group * STRIDE + e]);

        candidate[k] = make_int2((int)id, __float_as_int(score));
        own_choice[k] = i < count ? round_to<Choice>(score + shared.bias[of_group * BIAS_STRIDE + e]) : -INFINITY;
        choices[i] = own_choice[k];
    }
    __syncwarp();
    count_ranks<CANDIDATES_PER_LANE, GROUPS>(choices, own_choice, rank);
    // [choose]

    // [choose_ties]
    unsigned taken = count > 0 ? 0 : FULL_MASK >> (WARP_SIZE - TOPK) << first_bit;

#pragma unroll
    for (int k = 0; k < CANDIDATES_PER_LANE; k++)
        taken |= ((k * GROUPS + group < count) & (rank[k] < TOPK)) ? 1u << (first_bit + rank[k]) : 0;
    if (__reduce_or_sync(FULL_MASK, taken) != FULL_MASK >> (WARP_SIZE - Router::TOKENS_PER_WARP * TOPK))
        break_ties<CANDIDATES_PER_LANE, GROUPS>(choices, own_choice, rank);
#pragma unroll
    for (int k = 0; k < CANDIDATES_PER_LANE; k++)
        if ((k * GROUPS + group < count) & (rank[k] < TOPK))
            shared.chosen[token_in_warp][rank[k]] = candidate[k];
}
// [choose_ties]

// [load]
/**
 * Loads a warp's bias and rows into shared memory. The bias is loaded first, because its loads would otherwise queue
 * behind the bytes of the rows. It may be read before the previous kernel ends, because no kernel writes it.
 */
template <typename Router, typename T, typename Bias>
static __device__ __forceinline__ void load(const T *gating_output, int64_t first_row, const Bias *correction_bias,
                                            warp_shared<Router, T> &shared)
{
    constexpr unsigned GROUP_SIZE = Router::GROUP_SIZE, LOADS = Router::EXPERTS / WARP_SIZE;
    const unsigned lane = threadIdx.x % WARP_SIZE;
    float loaded[LOADS] = {};

    if (correction_bias) {
#pragma unroll
        for (unsigned i = 0; i < LOADS; i++)
            loaded[i] = to_float(correction_bias[i * WARP_SIZE + lane]);
    }
    wait_for_previous_kernel();
    let_next_kernel_start();
    fetch_rows<Router>(gating_output + first_row * Router::EXPERTS, shared.logits);
#pragma unroll
    for (unsigned i = 0; i < LOADS; i++) {
        const unsigned e = i * WARP_SIZE + lane;

        shared.bias[e / GROUP_SIZE * warp_shared<Router, T>::BIAS_STRIDE + e % GROUP_SIZE] = loaded[i];
    }
    __pipeline_wait_prior(0);
    __syncwarp();
}
// [load]

// [rank]
/** Returns the number of the token's groups that rank before this lane's group. */
template <unsigned GROUPS>
static __device__ __forceinline__ unsigned rank_of_group(float group_score)
{
    const unsigned group = threadIdx.x % GROUPS;
    const float above = __int_as_float(__float_as_int(group_score) +
                                       (group_score < 0.0f ? -1 : 1)); /* the next larger float */
    unsigned rank = GROUPS - 1;

    /* Of the groups group ^ i, for i from bit to 2 * bit - 1, either all precede this group or all follow it. */
#pragma unroll
    for (unsigned bit = 1; bit < GROUPS; bit *= 2) {
        const float least = group & bit ? group_score : above;

#pragma unroll
        for (unsigned i = bit; i < 2 * bit; i++)
            rank -= is_below(__shfl_xor_sync(FULL_MASK, group_score, i), least);
    }
    return rank;
}
// [rank]

// [mask]
/**
 * Returns a mask of the choices that are not below the bound. The first expert's bit is the highest of GROUP_SIZE bits.
 */
template <int GROUP_SIZE>
static __device__ __forceinline__ unsigned mask_of_candidates(const float (&choice)[GROUP_SIZE], float bound)
{
    /* One bit per choice of a half, 1 if it is below the bound; the first choice has the highest bit. */
    unsigned first_half = 0, second_half = 0;

#pragma unroll
    for (int e = 0; e < GROUP_SIZE / 2; e++) {
        /* Each shift appends the sign of a difference. */
        first_half = __funnelshift_l(__float_as_uint(choice[e] - bound), first_half, 1);
        second_half = __funnelshift_l(__float_as_uint(choice[GROUP_SIZE / 2 + e] - bound), second_half, 1);
    }
    return ~(first_half << GROUP_SIZE / 2 | second_half) << (WARP_SIZE - GROUP_SIZE);
}
// [mask]

// [list]
/** Stores the ids of a group's candidates, from the highest set bit down, so that the ids are in ascending order. */
static __device__ __forceinline__ void write_candidate_ids(unsigned passing, int first_id, int *to)
{
    for (; passing != 0; to++) {
        const int bit = WARP_SIZE - 1 - __clz((int)passing);

        *to = first_id + WARP_SIZE - 1 - bit;
        passing ^= 1u << bit;
    }
}
// [list]

// [choose_all]
/** Chooses the experts for all tokens of a warp, none of which has more than `max_count` candidates. */
template <typename Router, typename Choice, typename T>
static __device__ __forceinline__ void choose_topk_for_warp(warp_shared<Router, T> &shared, int token_in_warp,
                                                            int count, unsigned max_count)
{
    constexpr int GROUPS = Router::GROUPS;

    if (max_count <= 2 * GROUPS)
        choose_topk<2, Router, Choice>(shared, token_in_warp, count);
    else if (max_count <= 3 * GROUPS)
        choose_topk<3, Router, Choice>(shared, token_in_warp, count);
    else
        choose_topk<warp_shared<Router, T>::CAPACITY / GROUPS, Router, Choice>(shared, token_in_warp, count);
    __syncwarp();
}
// [choose_all]

// [many_kernel]
// Blocks that a multiprocessor must be able to hold at once, which limits the registers of each thread.
#if defined __CUDA_ARCH__ && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870)
enum { RESIDENT_BLOCKS = 16 };
#elif defined __CUDA_ARCH__ && (__CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
enum { RESIDENT_BLOCKS = 24 };
#else
enum { RESIDENT_BLOCKS = 32 };
#endif

/** Routes TOKENS_PER_WARP tokens. Grid: one single-warp block for every TOKENS_PER_WARP tokens. */
template <typename Router, typename T, typename Choice, typename Bias>
static __global__ void __launch_bounds__(WARP_SIZE, RESIDENT_BLOCKS)
    many_tokens_kernel(weighting params, int64_t num_tokens, const T *gating_output, const Bias *correction_bias,
                       float *topk_weights, int *topk_ids)
{
    constexpr unsigned GROUP_SIZE = Router::GROUP_SIZE, GROUPS = Router::GROUPS,
                       TOKENS_PER_WARP = Router::TOKENS_PER_WARP, TOPK = Router::TOPK;
    constexpr unsigned STRIDE = warp_shared<Router, T>::STRIDE, BIAS_STRIDE = warp_shared<Router, T>::BIAS_STRIDE;
    __shared__ __align__(16) warp_shared<Router, T> shared;
    const unsigned lane = threadIdx.x % WARP_SIZE, group = lane % GROUPS, token_in_warp = lane / GROUPS;
    const int64_t first_token = (int64_t)blockIdx.x * TOKENS_PER_WARP;
    const int64_t first_row = min(first_token, num_tokens - TOKENS_PER_WARP); /* the last warp may repeat rows */
    // [many_kernel]

    // [many_load]
    load<Router>(gating_output, first_row, correction_bias, shared);

    float choice[GROUP_SIZE];

    make_choices<Choice>(shared.logits + lane * STRIDE, shared.bias + group * BIAS_STRIDE, choice);
    // [many_load]

    // [many_bound]
    const two_largest_choices best = two_largest(choice);
    const float sum_of_two = round_to<Choice>(best.first + best.second);
    const float group_score = correction_bias ? sum_of_two : best.first;
    const bool stays = rank_of_group<GROUPS>(group_score) < Router::TOPK_GROUP;
    float bound = stays ? best.second : INFINITY;

#pragma unroll
    for (int offset = GROUPS / 2; offset > 0; offset /= 2)
        bound = fminf(bound, __shfl_xor_sync(FULL_MASK, bound, offset));

    const unsigned mask = mask_of_candidates(choice, bound);
    unsigned passing = stays ? mask : 0;
    unsigned end = __popc(passing); /* end of this group's candidates in the token's list */

#pragma unroll
    for (unsigned offset = 1; offset < GROUPS; offset *= 2) {
        const unsigned before = __shfl_up_sync(FULL_MASK, end, offset, GROUPS);

        end += group >= offset ? before : 0;
    }

    unsigned count = __shfl_sync(FULL_MASK, end, GROUPS - 1, GROUPS);
    // [many_bound]

    // [many_unsure]
    const bool needs_slow_path = !(sum_of_two < INFINITY) | (bound == -INFINITY) | (count > shared.CAPACITY);
    const unsigned slow_path_lanes = __ballot_sync(FULL_MASK, needs_slow_path);
    const bool on_slow_path = (slow_path_lanes & FULL_MASK >> (WARP_SIZE - GROUPS) << token_in_warp * GROUPS) != 0;

    count = on_slow_path ? 0 : count;
    passing = on_slow_path ? 0 : passing;

    const unsigned max_count = __reduce_max_sync(FULL_MASK, count);

    write_candidate_ids(passing, group * GROUP_SIZE, shared.ids[token_in_warp] + end - __popc(passing));
    __syncwarp();
    choose_topk_for_warp<Router, Choice>(shared, token_in_warp, count, max_count);
    // [many_unsure]

    // [many_weights]
    const int64_t token = first_row + token_in_warp;
    const bool chooses = !on_slow_path & (group < TOPK);
    const int2 winner = chooses ? shared.chosen[token_in_warp][group] : int2{0, 0};
    const float score = __int_as_float(winner.y), sum = round_to<T>(token_sum(score, GROUPS));

    if (!on_slow_path & (token >= first_token)) {
        float *const weights = topk_weights + token * (TOPK + params.num_shared_experts);
        int *const ids = topk_ids + token * (TOPK + params.num_shared_experts);

        if (group < TOPK) {
            weights[group] = weight_of<T>(params, score, sum);
            ids[group] = winner.x;
        }
        store_shared_experts<Router, T>(params, sum, group, GROUPS, weights, ids);
    }
    // [many_weights]

    // [many_rounds]
    if (slow_path_lanes == 0)
        return;
    for (unsigned t = 0; t < TOKENS_PER_WARP; t++)
        if ((slow_path_lanes & FULL_MASK >> (WARP_SIZE - GROUPS) << t * GROUPS) && first_row + t >= first_token)
            choose_by_rounds<Router, T, Choice>(params, gating_output + (first_row + t) * Router::EXPERTS,
                                                correction_bias,
                                                topk_weights + (first_row + t) * (TOPK + params.num_shared_experts),
                                                topk_ids + (first_row + t) * (TOPK + params.num_shared_experts));
    // [many_rounds]
}

#endif
