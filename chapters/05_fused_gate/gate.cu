/**
 * @file gate.cu
 * @brief Chapter 05: the gate within one warp, with a thread per group and several tokens per warp.
 *
 * Before: one block per token; eight warps synchronise at barriers and exchange numbers through shared memory.
 * Now:    a thread keeps a group's experts in registers; 32 / num_expert_group tokens share a warp; 6 warps per block.
 * Watch:  no block barriers; shuffles per token; sectors per load request; local memory, which must stay at 0 bytes.
 */
#include "harness/gate/gate.h"
#include "kernels/candidate.cuh"
#include "kernels/dtype.cuh"
#include "kernels/token_scores.cuh"

#include <math.h>

// [constants]
enum { WARP_SIZE = 32, WARPS_PER_BLOCK = 6, MAX_EXPERTS_PER_GROUP = 32, MAX_TOPK = 32, NO_EXPERT = 0x7fffffff };
// [constants]

static const unsigned FULL_MASK = 0xffffffffu;

// [token_best]
/** Returns the best candidate of a token's `groups` lanes to each of these lanes. `groups` is a power of two. */
static __device__ __forceinline__ candidate token_best(candidate mine, int groups)
{
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        candidate other;

        if (offset >= groups) /* warp-uniform */
            continue;
        other.value = __shfl_xor_sync(FULL_MASK, mine.value, offset);
        other.id = __shfl_xor_sync(FULL_MASK, mine.id, offset);
        mine = better(mine, other);
    }
    return mine;
}
// [token_best]

// [experts]
/** A group's experts, held in its thread's registers: every index is a constant once the loops are unrolled. */
template <int CAPACITY>
struct experts {
    float choice[CAPACITY]; /* the experts' choices; -infinity if NaN, already taken, or without an expert */
    unsigned valid;         /* mask: bit e is set if expert e's choice is a number and the expert has not been taken */
    unsigned invalid;       /* mask: bit e is set if expert e's choice is NaN and the expert has not been taken */
};
// [experts]

// [own_largest]
/** Returns the group's best choice and its index (the lowest on ties). CAPACITY - 1 comparisons form a tree. */
template <int CAPACITY>
static __device__ __forceinline__ candidate own_largest(const experts<CAPACITY> &own)
{
    candidate best[CAPACITY];

#pragma unroll
    for (int e = 0; e < CAPACITY; e++)
        best[e] = {own.choice[e], e};
#pragma unroll
    for (int step = 1; step < CAPACITY; step *= 2) {
#pragma unroll
        for (int e = 0; e < CAPACITY; e += 2 * step)
            if (e + step < CAPACITY)
                best[e] = better(best[e], best[e + step]);
    }
    return best[0];
}
// [own_largest]

// [own_best]
/**
 * Returns the group's best candidate. If the best choice is -infinity, experts whose choice is a number rank first,
 * then those with NaN, then NO_EXPERT.
 */
template <int CAPACITY>
static __device__ __forceinline__ candidate own_best(const experts<CAPACITY> &own, int first_id, int num_experts)
{
    candidate best = own_largest(own);

    if (best.value > -INFINITY)
        best.id += first_id;
    else if (own.valid)
        best.id = first_id + __ffs(own.valid) - 1;
    else if (own.invalid)
        best.id = first_id + __ffs(own.invalid) - 1 + num_experts;
    else
        best.id = NO_EXPERT;
    return best;
}
// [own_best]

// [take_out]
/** Removes expert `taken` from the group, so that it is not chosen again. */
template <int CAPACITY>
static __device__ __forceinline__ void take_out(experts<CAPACITY> &own, int taken)
{
    own.valid &= ~(1u << taken);
    own.invalid &= ~(1u << taken);
#pragma unroll
    for (int e = 0; e < CAPACITY; e++)
        own.choice[e] = e == taken ? -INFINITY : own.choice[e];
}
// [take_out]

// [own_group_score]
/** Returns the group's best choice, or the sum of its two best, which may be equal. */
template <typename Choice, int CAPACITY>
static __device__ __forceinline__ float score_of_group(const experts<CAPACITY> &own, bool has_bias)
{
    float first = -INFINITY, second = -INFINITY;

#pragma unroll
    for (int e = 0; e < CAPACITY; e++) {
        second = fmaxf(second, fminf(first, own.choice[e]));
        first = fmaxf(first, own.choice[e]);
    }

    const float sum = round_to<Choice>(first + second);

    return !has_bias ? first : isnan(sum) ? -INFINITY : sum; /* +infinity plus -infinity is NaN */
}
// [own_group_score]

// [kernel]
/**
 * Routes tokens. Grid: enough blocks of 6 warps, each of which routes 32 / num_expert_group tokens. EXPERTS and GROUPS
 * are 0 in the version that reads them from `problem`. Lanes past the last token repeat that token without storing,
 * because every lane in a shuffle's mask must participate.
 */
template <int EXPERTS, int GROUPS, typename T, typename Choice, typename Bias>
static __global__ void __launch_bounds__(WARPS_PER_BLOCK *WARP_SIZE)
    gate_kernel(gate_problem problem, const T *gating_output, const Bias *correction_bias, float *topk_weights,
                int *topk_ids)
{
    __shared__ int chosen[WARPS_PER_BLOCK][WARP_SIZE * MAX_TOPK];
    // [kernel]

    // [shape]
    constexpr int CAPACITY = EXPERTS ? EXPERTS / (GROUPS ? GROUPS : 1) : MAX_EXPERTS_PER_GROUP;
    const int num_experts = EXPERTS ? EXPERTS : problem.num_experts;
    const int groups = GROUPS ? GROUPS : problem.num_expert_group;
    // [shape]
    // [mapping]
    const int experts_per_group = num_experts / groups;
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const int group = lane % groups, token_in_warp = lane / groups;
    const int64_t token = ((int64_t)blockIdx.x * WARPS_PER_BLOCK + warp) * (WARP_SIZE / groups) + token_in_warp;
    const bool writes = token < problem.num_tokens;
    const T *const row = gating_output + (writes ? token : problem.num_tokens - 1) * num_experts;
    const int first_id = group * experts_per_group;
    int *const my_chosen = chosen[warp] + token_in_warp * MAX_TOPK;
    // [mapping]

    // [leave]
    /* All lanes of a warp without a token return together, and no barrier follows. */
    if (token - token_in_warp >= problem.num_tokens)
        return;
    // [leave]

    // [load]
    float score[CAPACITY], bias[CAPACITY];

    load_floats<EXPERTS != 0>(row + first_id, experts_per_group, score);
    if (correction_bias)
        load_floats<EXPERTS != 0>(correction_bias + first_id, experts_per_group, bias);
    // [load]

    // [own_scores]
    softmax_row softmax = {0.0f, 1.0f};
    experts<CAPACITY> own = {{}, 0, 0};

    if (problem.score == GATE_SCORE_SOFTMAX)
        softmax = reduce_row(score, experts_per_group, groups);
    to_scores<T>(problem.score, softmax, score);
    // [own_scores]

    // [choices]
#pragma unroll
    for (int e = 0; e < CAPACITY; e++) {
        const float choice = correction_bias ? round_to<Choice>(score[e] + bias[e]) : score[e];
        const bool is_nan = isnan(choice);

        own.choice[e] = (is_nan | (e >= experts_per_group)) ? -INFINITY : choice;
        // [choices]
        // [masks]
        own.valid |= (unsigned)(!is_nan & (e < experts_per_group)) << e;
        own.invalid |= (unsigned)(is_nan & (e < experts_per_group)) << e;
    }
    // [masks]

    // [groups]
    const float group_score = score_of_group<Choice>(own, correction_bias != NULL);
    int rank = 0; /* number of groups that rank before this one */

    for (int i = 1; i < groups; i++) {
        const float other = __shfl_xor_sync(FULL_MASK, group_score, i);

        rank += (other > group_score) | ((other == group_score) & ((group ^ i) < group));
    }
    if (rank >= problem.topk_group) {
        own.valid = own.invalid = 0;
#pragma unroll
        for (int e = 0; e < CAPACITY; e++)
            own.choice[e] = -INFINITY;
    }
    // [groups]

    // [topk]
#pragma unroll 1
    for (int k = 0; k < problem.topk; k++) {
        const candidate mine = own_best(own, first_id, num_experts);
        const candidate best = token_best(mine, groups);

        if (best.id == mine.id)
            take_out(own, (mine.id - first_id) % num_experts);
        if (group == 0)
            my_chosen[k] = best.id;
    }
    __syncwarp();
    // [topk]

    // [weights]
    float sum = 0.0f;

    for (int k = group; k < problem.topk; k += groups) {
        const int id = my_chosen[k];

        sum += recompute_score<T>(problem.score, softmax, row, id, num_experts);
    }
    sum = round_to<T>(token_sum(sum, groups));
    for (int k = group; writes && k < problem.topk; k += groups) {
        const int id = my_chosen[k];
        float weight = recompute_score<T>(problem.score, softmax, row, id, num_experts);

        if (problem.renormalize && !isfinite(sum))
            weight = 0.0f;
        else if (problem.renormalize && sum != 0.0f)
            weight = round_to<T>(weight / sum);
        topk_weights[token * problem.topk + k] = weight * problem.routed_scaling_factor;
        topk_ids[token * problem.topk + k] = id < num_experts ? id : id - num_experts;
    }
    // [weights]
}

// [launch]
template <int EXPERTS, int GROUPS, typename T, typename Choice, typename Bias>
static cudaError_t launch(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    const int64_t tokens_per_block = WARPS_PER_BLOCK * (WARP_SIZE / problem->num_expert_group);
    const unsigned blocks = (unsigned)((problem->num_tokens + tokens_per_block - 1) / tokens_per_block);

    gate_kernel<EXPERTS, GROUPS, T, Choice, Bias><<<blocks, WARPS_PER_BLOCK * WARP_SIZE, 0, stream>>>(
        *problem, (const T *)buffers->gating_output, (const Bias *)buffers->correction_bias, buffers->topk_weights,
        buffers->topk_ids);
    return cudaGetLastError();
}
// [launch]

// [dispatch]
template <typename T, typename Choice, typename Bias>
static cudaError_t launch_for_shape(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    /* One number encodes the shape. The original's nested ifs lost two cases to a dangling else (see the lab notes). */
    switch (problem->num_experts * 100 + problem->num_expert_group) {
    case 25608:
        return launch<256, 8, T, Choice, Bias>(problem, buffers, stream);
    case 25616:
        return launch<256, 16, T, Choice, Bias>(problem, buffers, stream);
    case 12804:
        return launch<128, 4, T, Choice, Bias>(problem, buffers, stream);
    case 12808:
        return launch<128, 8, T, Choice, Bias>(problem, buffers, stream);
    default:
        return launch<0, 0, T, Choice, Bias>(problem, buffers, stream);
    }
}
// [dispatch]

// [gate_launch]
cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream)
{
    const bool wide = gate_choice_dtype(problem) == DTYPE_F32; /* true if choices are f32: f32 logits or bias */

    if (problem->num_tokens == 0) /* launching an empty grid is an error */
        return cudaSuccess;
    switch (problem->dtype) {
    case DTYPE_F16:
        return wide ? launch_for_shape<__half, float, float>(problem, buffers, stream)
                    : launch_for_shape<__half, __half, __half>(problem, buffers, stream);
    case DTYPE_BF16:
        return wide ? launch_for_shape<__nv_bfloat16, float, float>(problem, buffers, stream)
                    : launch_for_shape<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16>(problem, buffers, stream);
    default:
        return launch_for_shape<float, float, float>(problem, buffers, stream);
    }
}
// [gate_launch]
