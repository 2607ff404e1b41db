/** @file block_softmax.cuh  Chapter 02's softmax: a block computes one row, with one logit per thread. */
#ifndef KERNELS_BLOCK_SOFTMAX_CUH
#define KERNELS_BLOCK_SOFTMAX_CUH

#include <cuda_runtime.h>
#include <math.h>

// [block_softmax]
/**
 * Returns exp(logit - largest) / sum for the row that the block's logits form. All threads of the block (at most 32
 * full warps) must call it; a thread without an expert passes -infinity and false. The function contains two block
 * barriers. If the row contains NaN or +infinity, every result is NaN.
 */
static __device__ float block_softmax(float logit, bool has_expert)
{
    __shared__ float warp_largest[32];
    __shared__ float warp_total[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
    float largest = logit;

    for (int offset = 16; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    if (lane == 0)
        warp_largest[warp] = largest;
    __syncthreads();
    largest = lane < num_warps ? warp_largest[lane] : -INFINITY;
    for (int offset = 16; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));

    const float power = has_expert ? expf(logit - largest) : 0.0f;
    float total = power;

    for (int offset = 16; offset > 0; offset /= 2)
        total += __shfl_xor_sync(0xffffffffu, total, offset);
    if (lane == 0)
        warp_total[warp] = total;
    __syncthreads();
    total = lane < num_warps ? warp_total[lane] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2)
        total += __shfl_xor_sync(0xffffffffu, total, offset);
    return power / total;
}
// [block_softmax]

#endif
