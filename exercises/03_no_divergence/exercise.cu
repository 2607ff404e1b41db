/**
 * @file exercise.cu
 * @brief 03_no_divergence: a warp's best experts, round by round, without a divergent branch.
 *
 * This is chapter 02's code, and it is correct. In each step of each round, some lanes take the other candidate and
 * others do not, so the warp executes both paths. Rewrite the code between // TODO and // END; leave the rest
 * unchanged.
 */
#include "exercise.h"

#include <math.h>

static const unsigned FULL_MASK = 0xffffffffu;

/** Returns `a` if `take_a` is true, else `b`. */
static __device__ candidate select(bool take_a, candidate a, candidate b)
{
    // TODO select
    // `?:` needs no branch if both values have already been computed. Here, this is not the case.
    return take_a ? a : b;
    // END select
}

/** Returns the candidate that ranks higher: the larger value or, if the values are equal, the lower id. */
static __device__ candidate better(candidate mine, candidate other)
{
    // TODO better
    // Which of these operators branch?
    if (other.value >= mine.value && (other.value > mine.value || other.id < mine.id))
        mine = other;
    return mine;
    // END better
}

/** Returns the best candidate of the 32 lanes to every lane. All 32 lanes must call it. */
static __device__ candidate warp_best(candidate mine)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        candidate other;

        other.value = __shfl_xor_sync(FULL_MASK, mine.value, offset);
        other.id = __shfl_xor_sync(FULL_MASK, mine.id, offset);
        mine = better(mine, other);
    }
    return mine;
}

/** Returns the lanes' `count` best candidates: lane k gets the k-th; lanes from `count` on get an empty candidate. */
static __device__ candidate best_in_rounds(candidate mine, int count, int lane)
{
    const candidate no_candidate = {-INFINITY, NO_EXPERT};
    candidate chosen = no_candidate;

    for (int k = 0; k < count; k++) {
        const candidate best = warp_best(mine);

        // TODO rounds
        // The lane whose candidate has won removes it. Lane k keeps the winner of round k.
        if (best.id == mine.id)
            mine = no_candidate;
        if (lane == k)
            chosen = best;
        // END rounds
    }
    return chosen;
}

/** Finds each token's top k experts. Grid: enough blocks for all tokens. Block: four warps, each with its own token. */
static __global__ void top_experts_kernel(const float *choice, int num_tokens, int num_experts, int topk,
                                          candidate *best)
{
    const int lane = threadIdx.x % WARP_SIZE;
    const int token = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;

    /* All lanes of a warp return together. With 32 experts, the second `if` does not diverge either. */
    if (token >= num_tokens)
        return;

    candidate mine = {-INFINITY, NO_EXPERT};

    if (lane < num_experts)
        mine = {choice[token * num_experts + lane], lane};
    best[token * WARP_SIZE + lane] = best_in_rounds(mine, topk, lane);
}

cudaError_t top_experts_launch(const float *choice, int num_tokens, int num_experts, int topk, candidate *best)
{
    enum { WARPS = 4 };

    top_experts_kernel<<<(num_tokens + WARPS - 1) / WARPS, WARPS * WARP_SIZE>>>(choice, num_tokens, num_experts, topk,
                                                                                best);
    return cudaGetLastError();
}
