/**
 * @file exercise.cu
 * @brief 02_warp_maximum: finds the largest of a warp's scores and the expert that has it.
 *
 * A warp holds one token's scores, one per lane. Lanes cannot read each other's registers, but __shfl_xor_sync lets two
 * lanes exchange values. Five exchanges are enough for 32 lanes. Write your code between // TODO and // END; leave the
 * rest unchanged.
 */
#include "exercise.h"

#include <math.h>

static const unsigned FULL_MASK = 0xffffffffu;

/** Returns the best of the 32 lanes' candidates to every lane. All 32 lanes must call it. */
static __device__ candidate warp_best(candidate mine)
{
    // TODO warp_best
    // __shfl_xor_sync(FULL_MASK, value, offset) returns the `value` of the lane whose number is this lane's number XOR
    // `offset`. A candidate is two values: shuffle both its score and its id. The larger score wins; if the scores are
    // equal, the lower id wins.
    return mine;
    // END warp_best
}

/** Finds each token's best expert. Grid: enough blocks for all tokens. Block: four warps, each with its own token. */
static __global__ void warp_maximum_kernel(const float *scores, int num_tokens, int num_experts, candidate *best)
{
    const int lane = threadIdx.x % WARP_SIZE;
    const int token = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;

    // TODO kernel
    // Give each lane its candidate, call warp_best(), and let every lane write the result to
    // best[token * WARP_SIZE + lane]. Two cases need care. The last block may have warps without a token. With fewer
    // than 32 experts, some lanes have no expert; such a lane must lose even against a score of -INFINITY. NO_EXPERT is
    // higher than any expert's id.
    // END kernel
}

cudaError_t warp_maximum_launch(const float *scores, int num_tokens, int num_experts, candidate *best)
{
    enum { WARPS = 4 };

    warp_maximum_kernel<<<(num_tokens + WARPS - 1) / WARPS, WARPS * WARP_SIZE>>>(scores, num_tokens, num_experts, best);
    return cudaGetLastError();
}
