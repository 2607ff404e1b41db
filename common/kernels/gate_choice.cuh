/**
 * @file gate_choice.cuh
 * @brief Device functions of chapter 13a's gate, which chapters 13b, 13c and 15 also use: choices as ordered keys, the
 * two largest keys of a group, ranks and weights; and 13c's slow path, which routes a token in rounds.
 *
 * A Router is a class of compile-time constants (see router.cuh).
 */
#ifndef KERNELS_GATE_CHOICE_CUH
#define KERNELS_GATE_CHOICE_CUH

#include "kernels/instructions.cuh"
#include "kernels/token_scores.cuh"

enum { WARP_SIZE = 32 };
static const unsigned FULL_MASK = 0xffffffffu;

// [ordered]
/**
 * Returns a choice's key, an unsigned integer; keys have the same order as choices. The key of NaN is 0, which is lower
 * than the key of -infinity.
 */
static __device__ __forceinline__ unsigned ordered_key(float choice)
{
    const unsigned bits = __float_as_uint(choice), flip = (unsigned)((int)bits >> 31) | 0x80000000u;
    const unsigned key = bits ^ flip;

    return isnan(choice) ? 0u : key;
}
// [ordered]

// [choice_of]
/**
 * Returns the choice that a key represents. Returns -infinity for the key of NaN, because NaN counts as -infinity in a
 * group's score.
 */
static __device__ __forceinline__ float choice_of(unsigned key)
{
    const unsigned at_least = max(key, ordered_key(-INFINITY));

    return __uint_as_float(at_least & 0x80000000u ? at_least ^ 0x80000000u : ~at_least);
}
// [choice_of]

// [entry]
/**
 * A candidate packed into one number: the key in the high half and the inverted id in the low half, so that of two
 * candidates with equal choices, the one with the lower id is the larger number.
 */
typedef unsigned long long packed_candidate;

static __device__ __forceinline__ packed_candidate pack_candidate(unsigned key, int id)
{
    return (packed_candidate)key << 32 | ~(unsigned)id;
}

static __device__ __forceinline__ int id_of(packed_candidate candidate)
{
    return (int)~(unsigned)candidate;
}
// [entry]

// [rank_of]
/**
 * Returns how many of `count` candidates rank before `candidate`. LANES neighbouring lanes pass the same candidate and
 * divide the list among themselves: an iteration covers AT_ONCE entries, and each lane compares two neighbouring
 * entries of every 2 * LANES. Zeros must follow the last candidate, up to a multiple of AT_ONCE.
 */
template <int LANES, int AT_ONCE>
static __device__ __forceinline__ int rank_of(packed_candidate candidate, const packed_candidate *candidates, int count)
{
    const packed_candidate *const others = candidates + threadIdx.x % LANES * 2;
    int even = 0, odd = 0;

#pragma unroll 1
    for (int first = 0; first < count; first += AT_ONCE) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i += 2 * LANES) {
            even = plus_if_larger(even, others[first + i], candidate);
            odd = plus_if_larger(odd, others[first + i + 1], candidate);
        }
    }

    int rank = even + odd;

#pragma unroll
    for (int lanes = 1; lanes < LANES; lanes *= 2)
        rank += __shfl_xor_sync(FULL_MASK, rank, lanes);
    return rank;
}
// [rank_of]

// [score_of_group]
/**
 * Returns a group's score: the sum of its two best choices or, without a bias, only the best one. If the two choices
 * are +infinity and -infinity, the score is -infinity.
 */
template <typename Choice>
static __device__ __forceinline__ float score_of_group(float first, float second, bool has_bias)
{
    const float sum = round_to<Choice>(first + second);

    return !has_bias ? first : isnan(sum) ? -INFINITY : sum;
}
// [score_of_group]

// [weight_of]
/** The parameters for computing weights from the chosen experts' scores. */
struct weighting {
    bool renormalize;
    float scale;                 /* factor for all weights */
    int num_shared_experts;      /* in addition to a token's chosen experts */
    float routed_scaling_factor; /* a shared expert's score is the sum divided by this factor */
};

static inline weighting weighting_of(const gate_problem *problem)
{
    return {problem->renormalize, gate_output_scale(problem), problem->num_fused_shared_experts,
            problem->routed_scaling_factor};
}

/**
 * Returns dividend / divisor for divisors from 2^-126 to 2^126; the result is exact if the quotient is representable.
 * The approximate quotient is off by up to two ulps; the remainder is used to correct it.
 */
static __device__ __forceinline__ float divide_approx(float dividend, float divisor)
{
    const float reciprocal = __fdividef(1.0f, divisor), quick = dividend * reciprocal;

    return fmaf(fmaf(-quick, divisor, dividend), reciprocal, quick);
}

/**
 * Returns the weight of a chosen expert. `sum`, the sum of all chosen scores, is at most TOPK, and either 0 or a normal
 * float.
 */
template <typename T>
static __device__ __forceinline__ float weight_of(weighting params, float score, float sum)
{
    const float weight = params.renormalize && sum != 0.0f ? round_to<T>(divide_approx(score, sum)) : score;

    return weight * params.scale;
}
// [weight_of]

// [shared_experts]
/**
 * Writes a token's shared experts after its TOPK chosen ones, with the work divided among `lanes` lanes. A shared
 * expert's score is not limited to the range from 0 to 1, because params.routed_scaling_factor may be any number.
 */
template <typename Router, typename T>
static __device__ __forceinline__ void store_shared_experts(weighting params, float sum, int lane, int lanes,
                                                            float *topk_weights, int *topk_ids)
{
    for (int i = lane; i < params.num_shared_experts; i += lanes) {
        const float score = round_to<T>(__fdividef(sum, params.routed_scaling_factor));
        const float weight = params.renormalize && sum != 0.0f ? round_to<T>(__fdividef(score, sum)) : score;

        topk_weights[Router::TOPK + i] = weight * params.scale;
        topk_ids[Router::TOPK + i] = Router::EXPERTS + i;
    }
}
// [shared_experts]

// [exact]
/** Returns an expert's score, computed as in chapter 05. */
template <typename T>
static __device__ __forceinline__ float exact_score(T logit)
{
    float score[1] = {to_float(logit)};

    to_scores<T>(GATE_SCORE_SIGMOID, {0.0f, 1.0f}, score);
    return score[0];
}

template <typename Choice, typename Bias>
static __device__ __forceinline__ float choice_with(float score, const Bias *correction_bias, int expert)
{
    return correction_bias ? round_to<Choice>(score + to_float(correction_bias[expert])) : score;
}
// [exact]

// [two_keys]
/** The two largest keys of a group, which may be equal. */
struct two_keys {
    unsigned first, second;
};

/** Returns the two largest keys of each group of GROUP_SIZE neighbouring lanes to all lanes of the group. */
template <int GROUP_SIZE>
static __device__ __forceinline__ two_keys two_largest_keys(unsigned key)
{
    const int group_in_warp = threadIdx.x % WARP_SIZE / GROUP_SIZE;
    two_keys best = {0, 0};

#pragma unroll
    for (int i = 0; i < WARP_SIZE / GROUP_SIZE; i++) {
        const unsigned mine = i == group_in_warp ? key : 0;
        const unsigned first = __reduce_max_sync(FULL_MASK, mine);
        const unsigned holders = __ballot_sync(FULL_MASK, (i == group_in_warp) & (key == first));
        const unsigned next = __reduce_max_sync(FULL_MASK, mine == first ? 0 : mine);
        const unsigned second = __popc(holders) > 1 ? first : next;

        best.first = i == group_in_warp ? first : best.first;
        best.second = i == group_in_warp ? second : best.second;
    }
    return best;
}
// [two_keys]

// [rounds]
/** Routes one token, whatever its logits are, with a full warp. Each lane processes every 32nd expert. */
template <typename Router, typename T, typename Choice, typename Bias>
static __device__ __noinline__ void choose_by_rounds(weighting params, const T *row, const Bias *correction_bias,
                                                     float *topk_weights, int *topk_ids)
{
    constexpr int EXPERTS_PER_LANE = Router::EXPERTS / WARP_SIZE;
    const int lane = threadIdx.x % WARP_SIZE;
    packed_candidate own[EXPERTS_PER_LANE], chosen = 0;
    float group_score = -INFINITY; /* in lane g: the score of group g */
    int rank = 0;

#pragma unroll
    for (int i = 0; i < EXPERTS_PER_LANE; i++) {
        const int expert = i * WARP_SIZE + lane;
        const unsigned key = ordered_key(choice_with<Choice>(exact_score(row[expert]), correction_bias, expert));
        const two_keys best = two_largest_keys<Router::GROUP_SIZE>(key);
        const float score = score_of_group<Choice>(choice_of(best.first), choice_of(best.second),
                                                   correction_bias != NULL);

        own[i] = pack_candidate(key, expert);
#pragma unroll
        for (int group_in_warp = 0; group_in_warp < WARP_SIZE / Router::GROUP_SIZE; group_in_warp++) {
            const float its_score = __shfl_sync(FULL_MASK, score, group_in_warp * Router::GROUP_SIZE);

            group_score = lane == i * (WARP_SIZE / Router::GROUP_SIZE) + group_in_warp ? its_score : group_score;
        }
    }
    for (int i = 0; i < Router::GROUPS; i++) {
        const float other = __shfl_sync(FULL_MASK, group_score, i);

        rank += (other > group_score) | ((other == group_score) & (i < lane));
    }

    const unsigned kept_groups_mask = __ballot_sync(FULL_MASK, (lane < Router::GROUPS) & (rank < Router::TOPK_GROUP));

#pragma unroll
    for (int i = 0; i < EXPERTS_PER_LANE; i++)
        own[i] = kept_groups_mask >> (i * WARP_SIZE + lane) / Router::GROUP_SIZE & 1 ? own[i] : 0;
    for (int k = 0; k < Router::TOPK; k++) {
        packed_candidate best = 0;

#pragma unroll
        for (int i = 0; i < EXPERTS_PER_LANE; i++)
            best = max(best, own[i]);

        const unsigned key = __reduce_max_sync(FULL_MASK, (unsigned)(best >> 32));
        const unsigned low = __reduce_max_sync(FULL_MASK, best >> 32 == key ? (unsigned)best : 0);

        best = (packed_candidate)key << 32 | low;
        chosen = lane == k ? best : chosen;
#pragma unroll
        for (int i = 0; i < EXPERTS_PER_LANE; i++)
            own[i] = own[i] == best ? 0 : own[i];
    }

    const bool has_weight = (lane < Router::TOPK) & (chosen >> 32 != 0);
    const float score = has_weight ? exact_score(row[id_of(chosen)]) : 0.0f;
    const float sum = round_to<T>(token_sum(score, WARP_SIZE));

    if (lane < Router::TOPK) {
        topk_weights[lane] = weight_of<T>(params, score, sum);
        topk_ids[lane] = id_of(chosen);
    }
    store_shared_experts<Router, T>(params, sum, lane, WARP_SIZE, topk_weights, topk_ids);
}
// [rounds]

#endif
