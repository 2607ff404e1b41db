/**
 * @file exercise.cu
 * @brief 19_ranks_by_votes: computes the ranks of a token's eight groups from two votes of a warp.
 *
 * Chapter 19 compares all pairs of eight groups in one vote of 64 lanes. A warp of 32 lanes needs two votes. Write your
 * code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

static const unsigned FULL_MASK = 0xffffffffu;

/** Returns whether group a, with score_a, ranks before group b. */
static __device__ bool ranks_before(float score_a, int a, float score_b, int b)
{
    // TODO ranks_before
    // The larger score ranks first; if the scores are equal, the lower group number does.
    return false;
    // END ranks_before
}

/** Ranks each token's groups. Grid: enough blocks for all tokens. Block: four warps, each with its own token. */
static __global__ void ranks_kernel(const float *scores, int num_tokens, int *ranks)
{
    const int lane = threadIdx.x % WARP_SIZE;
    const int token = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;

    // TODO kernel
    // In the first vote, lane 8i + j compares group j with group i; in the second, with group i + 4. Eight lanes then
    // write the ranks to ranks[token * NUM_GROUPS + group]. __popc(bits) returns the number of set bits.
    // END kernel
}

cudaError_t rank_groups_best_first_launch(const float *scores, int num_tokens, int *ranks)
{
    enum { WARPS = 4 };

    ranks_kernel<<<(num_tokens + WARPS - 1) / WARPS, WARPS * WARP_SIZE>>>(scores, num_tokens, ranks);
    return cudaGetLastError();
}
