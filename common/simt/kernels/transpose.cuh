/**
 * @file common/simt/kernels/transpose.cuh
 * @brief Transposes an 8x8 matrix with shuffles. Replaces common/kernels/transpose.cuh, because this directory is
 *        searched first.
 */
#ifndef SIMT_TRANSPOSE_CUH
#define SIMT_TRANSPOSE_CUH

#include <cuda_runtime.h>

/**
 * Transposes an 8x8 matrix with two shuffles, which the simulator counts. Element e of row g is in lane 4 g + e / 2.
 */
SIMT_DEVICE uint32_t transpose_8x8(uint32_t elements)
{
    const uint32_t lane = threadIdx.x % 32, first = lane % 4 * 8 + lane / 8, half = lane / 4 % 2 * 16;
    const uint32_t upper = __shfl_sync(0xffffffffu, elements, first),
                   lower = __shfl_sync(0xffffffffu, elements, first + 4);

    return (upper >> half & 0xffff) | lower >> half << 16;
}

#endif
