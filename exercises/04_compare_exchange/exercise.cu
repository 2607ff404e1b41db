/**
 * @file exercise.cu
 * @brief 04_compare_exchange: the compare-exchange step of a bitonic network.
 *
 * The network is complete: warp_sort() decides which lanes form a pair and which lane keeps the better candidate.
 * The exchange between the two lanes is missing. Write your code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

#include <math.h>

static const unsigned FULL_MASK = 0xffffffffu;

/** Checks whether `a` ranks before `b`. If the ids differ, exactly one of the two candidates ranks before the other. */
static __device__ bool ranks_before(candidate a, candidate b)
{
    // TODO ranks_before
    // The larger value ranks first; if the values are equal, the lower id does.
    return false;
    // END ranks_before
}

/** Exchanges candidates with the lane `distance` away; returns the better one if keep_better, otherwise the worse. */
static __device__ candidate compare_exchange(candidate mine, int distance, bool keep_better)
{
    // TODO compare_exchange
    // Get the other lane's value and id: __shfl_xor_sync(FULL_MASK, x, distance) returns that lane's x. keep_better is
    // true in one lane of each pair and false in the other. The two lanes must never keep the same candidate: each
    // keeps one of the two.
    return mine;
    // END compare_exchange
}

/** Returns bit `position` of a word: 0 or 1. */
static __device__ unsigned bit_of(unsigned word, unsigned position)
{
    return word >> position & 1;
}

/** Sorts the warp's candidates in 1 + 2 + 3 + 4 + 5 steps, so that lane 0 gets the best. */
static __device__ candidate warp_sort(candidate mine, unsigned lane)
{
    for (int s = 1; s <= 5; s++)
        for (int d = s - 1; d >= 0; d--)
            mine = compare_exchange(mine, 1 << d, bit_of(lane, s) == bit_of(lane, d));
    return mine;
}

/** Sorts each token's experts. Grid: enough blocks for all tokens. Block: four warps, each with its own token. */
static __global__ void sort_kernel(const float *scores, int num_tokens, int num_experts, candidate *sorted)
{
    const int lane = threadIdx.x % WARP_SIZE;
    const int token = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;

    if (token >= num_tokens) /* the same for all lanes */
        return;

    const bool has_expert = lane < num_experts;
    const float score = has_expert ? scores[token * num_experts + lane] : -INFINITY;
    candidate mine = {score, lane};

    // TODO rank
    // Two kinds of lanes need a special candidate. NaN is neither larger than a number nor equal to one, so an expert
    // whose score is NaN cannot be compared: its lane uses -INFINITY and the expert's number + num_experts, which ranks
    // below all experts without NaN. A lane without an expert uses -INFINITY and NO_EXPERT, which ranks below all
    // candidates.
    // END rank

    mine = warp_sort(mine, lane);
    sorted[token * WARP_SIZE + lane] = mine;
}

cudaError_t sort_launch(const float *scores, int num_tokens, int num_experts, candidate *sorted)
{
    enum { WARPS = 4 };

    sort_kernel<<<(num_tokens + WARPS - 1) / WARPS, WARPS * WARP_SIZE>>>(scores, num_tokens, num_experts, sorted);
    return cudaGetLastError();
}
