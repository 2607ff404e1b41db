/**
 * @file exercise.cu
 * @brief 05_another_router: chapter 05's gate for one router, to be extended to a second one.
 *
 * The code handles a router of 256 experts in 8 groups of 32, which chooses 8 experts from the best 4 groups. It is
 * chapter 05's kernel for that router only: logits and bias are f32, the score is a sigmoid, and weights are divided by
 * their sum. Write your code between // TODO and // END; leave the rest unchanged.
 */
#include "harness/gate/gate.h"
#include "kernels/candidate.cuh"

#include <math.h>

enum { WARP_SIZE = 32, GROUPS = 8, TOKENS_PER_WARP = WARP_SIZE / GROUPS, WARPS_PER_BLOCK = 6, MAX_TOPK = 8 };
enum { NO_EXPERT = 0x7fffffff };

static const unsigned FULL_MASK = 0xffffffffu;

/** Returns the best candidate of a token's eight lanes to all of them. */
static __device__ __forceinline__ candidate token_best(candidate mine)
{
#pragma unroll
    for (int offset = GROUPS / 2; offset > 0; offset /= 2) {
        candidate other;

        other.value = __shfl_xor_sync(FULL_MASK, mine.value, offset);
        other.id = __shfl_xor_sync(FULL_MASK, mine.id, offset);
        mine = better(mine, other);
    }
    return mine;
}

/** Returns the sum of the values of a token's eight lanes to all of them. */
static __device__ __forceinline__ float token_sum(float value)
{
#pragma unroll
    for (int offset = GROUPS / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(FULL_MASK, value, offset);
    return value;
}

static __device__ __forceinline__ float sigmoid(float logit)
{
    return __fdividef(1.0f, 1.0f + expf(-logit));
}

/* --- a group: CAPACITY experts in the registers of one thread ----------------------------------------------------- */

template <int CAPACITY>
struct experts {
    float choice[CAPACITY]; /* -infinity if the choice is NaN or the expert was taken */
    unsigned valid;         /* bit e: expert e's choice is a number, and the expert is not taken yet */
    unsigned invalid;       /* bit e: expert e's choice is NaN, and the expert is not taken yet */
};

/** Reads a group's numbers, 16 bytes at a time; groups of 20 or 32 begin at a multiple of 16 bytes. */
template <int CAPACITY>
static __device__ __forceinline__ void load_group(const float *from, float (&to)[CAPACITY])
{
#pragma unroll
    for (int e = 0; e < CAPACITY; e += 4) {
        const float4 four = *(const float4 *)(from + e);

        to[e] = four.x;
        to[e + 1] = four.y;
        to[e + 2] = four.z;
        to[e + 3] = four.w;
    }
}

/** Returns the best of CAPACITY candidates. */
template <int CAPACITY>
static __device__ __forceinline__ candidate best_of(candidate (&best)[CAPACITY])
{
    // TODO largest
    // In each round, each candidate in the first half becomes the better of itself and its partner in the second half.
#pragma unroll
    for (int half = CAPACITY / 2; half > 0; half /= 2) {
#pragma unroll
        for (int e = 0; e < half; e++)
            best[e] = better(best[e], best[e + half]);
    }
    return best[0];
    // END largest
}

/** Returns the group's largest choice and its index; ties go to the lowest index. */
template <int CAPACITY>
static __device__ __forceinline__ candidate own_largest(const experts<CAPACITY> &own)
{
    candidate best[CAPACITY];

#pragma unroll
    for (int e = 0; e < CAPACITY; e++)
        best[e] = {own.choice[e], e};
    return best_of(best);
}

/**
 * Returns the group's best candidate, with the expert's id. The id of an expert whose choice is NaN is its number
 * plus the total number of experts.
 */
template <int CAPACITY>
static __device__ __forceinline__ candidate own_best(const experts<CAPACITY> &own, int first_id)
{
    candidate best = own_largest(own);

    if (best.value > -INFINITY)
        best.id += first_id;
    else if (own.valid)
        best.id = first_id + __ffs(own.valid) - 1;
    else if (own.invalid)
        best.id = first_id + __ffs(own.invalid) - 1 + GROUPS * CAPACITY;
    else
        best.id = NO_EXPERT;
    return best;
}

/** Removes expert `taken` of the group, 0 to CAPACITY - 1; any other number removes none. */
template <int CAPACITY>
static __device__ __forceinline__ void take_out(experts<CAPACITY> &own, int taken)
{
#pragma unroll
    for (int e = 0; e < CAPACITY; e++) {
        own.choice[e] = e == taken ? -INFINITY : own.choice[e];
        own.valid &= ~((unsigned)(e == taken) << e);
        own.invalid &= ~((unsigned)(e == taken) << e);
    }
}

/** Returns the sum of the group's two best choices; the second may equal the first. */
template <int CAPACITY>
static __device__ __forceinline__ float score_of_group(const experts<CAPACITY> &own)
{
    float first = -INFINITY, second = -INFINITY;

#pragma unroll
    for (int e = 0; e < CAPACITY; e++) {
        second = fmaxf(second, fminf(first, own.choice[e]));
        first = fmaxf(first, own.choice[e]);
    }

    const float sum = first + second;

    return isnan(sum) ? -INFINITY : sum; /* +infinity and -infinity in one group */
}

/* --- the kernel --------------------------------------------------------------------------------------------------- */

/**
 * Routes tokens. Grid: enough blocks of 6 warps, with 4 tokens per warp. Lanes past the last token process that token
 * again but store nothing: they cannot return, because all lanes in a shuffle's mask must take part.
 */
template <int CAPACITY>
static __global__ void __launch_bounds__(WARPS_PER_BLOCK *WARP_SIZE)
    gate_kernel(gate_problem problem, const float *gating_output, const float *correction_bias, float *topk_weights,
                int *topk_ids)
{
    __shared__ int chosen[WARPS_PER_BLOCK][TOKENS_PER_WARP * MAX_TOPK];

    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const int group = lane % GROUPS, token_in_warp = lane / GROUPS;
    const int64_t token = ((int64_t)blockIdx.x * WARPS_PER_BLOCK + warp) * TOKENS_PER_WARP + token_in_warp;
    const bool writes = token < problem.num_tokens;
    const int64_t token_read = writes ? token : problem.num_tokens - 1;
    int *const my_chosen = chosen[warp] + token_in_warp * MAX_TOPK;

    /* All lanes of a warp without a token return together, and no barrier follows. */
    if (token - token_in_warp >= problem.num_tokens)
        return;

    // TODO mapping
    // Where does the token's row begin, and which expert is the first of this thread's group?
    const float *const row = gating_output + token_read * 256;
    const int first_id = group * 32;
    // END mapping

    float score[CAPACITY], bias[CAPACITY];
    experts<CAPACITY> own = {{}, 0, 0};

    load_group(row + first_id, score);
    load_group(correction_bias + first_id, bias);
#pragma unroll
    for (int e = 0; e < CAPACITY; e++) {
        const float choice = sigmoid(score[e]) + bias[e];
        const bool is_nan = isnan(choice);

        own.choice[e] = is_nan ? -INFINITY : choice;
        own.valid |= (unsigned)!is_nan << e;
        own.invalid |= (unsigned)is_nan << e;
    }

    const float group_score = score_of_group(own);
    int rank = 0; /* number of groups that rank before this one */

#pragma unroll
    for (int i = 1; i < GROUPS; i++) {
        const float other = __shfl_xor_sync(FULL_MASK, group_score, i);

        rank += (other > group_score) | ((other == group_score) & ((group ^ i) < group));
    }
    if (rank >= problem.topk_group) {
        own.valid = own.invalid = 0;
#pragma unroll
        for (int e = 0; e < CAPACITY; e++)
            own.choice[e] = -INFINITY;
    }

    // TODO topk
    // In each round the token's lanes find the best remaining expert, and the lane that holds it removes it.
#pragma unroll 1
    for (int k = 0; k < 8; k++) {
        const candidate mine = own_best(own, first_id);
        const candidate best = token_best(mine);

        if (best.id == mine.id)
            take_out(own, mine.id % 32);
        if (group == 0)
            my_chosen[k] = best.id;
    }
    __syncwarp();
    // END topk

    // TODO weights
    // Each of a token's eight lanes holds one of the token's eight chosen experts. A weight is the expert's score
    // divided by the sum of all chosen experts' scores.
    const int id = my_chosen[group];
    const float chosen_score = id < 256 ? sigmoid(row[id]) : 0.0f; /* 0 for an expert whose choice is NaN */
    const float sum = token_sum(chosen_score);
    const float weight = sum != 0.0f ? chosen_score / sum : chosen_score;

    if (writes) {
        topk_weights[token * 8 + group] = weight * problem.routed_scaling_factor;
        topk_ids[token * 8 + group] = id < 256 ? id : id - 256;
    }
    // END weights
}

template <int CAPACITY>
static cudaError_t launch(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    const int64_t tokens_per_block = WARPS_PER_BLOCK * TOKENS_PER_WARP;
    const unsigned blocks = (unsigned)((problem->num_tokens + tokens_per_block - 1) / tokens_per_block);

    gate_kernel<CAPACITY><<<blocks, WARPS_PER_BLOCK * WARP_SIZE, 0, stream>>>(
        *problem, (const float *)buffers->gating_output, (const float *)buffers->correction_bias, buffers->topk_weights,
        buffers->topk_ids);
    return cudaGetLastError();
}

cudaError_t gate_launch(const gate_problem *problem, const gate_buffers *buffers, cudaStream_t stream)
{
    if (problem->num_expert_group != GROUPS || problem->topk > MAX_TOPK)
        return cudaErrorInvalidValue;
    // TODO dispatch
    // One kernel for each number of experts: launch<CAPACITY>() launches the kernel for groups of CAPACITY experts.
    switch (problem->num_experts) {
    case 256:
        return launch<32>(problem, buffers, stream);
    default:
        return cudaErrorInvalidValue;
    }
    // END dispatch
}
