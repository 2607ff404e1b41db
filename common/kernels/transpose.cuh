/**
 * @file common/kernels/transpose.cuh
 * @brief Transposes an 8x8 matrix of 16-bit elements in a warp's registers. Used by chapters 16a and 16b.
 *
 * The CPU build uses the header of the same name in common/simt/kernels instead.
 */
#ifndef KERNELS_TRANSPOSE_CUH
#define KERNELS_TRANSPOSE_CUH

#include <cuda_runtime.h>
#include <stdint.h>

// [transpose]
/** Takes elements 2t and 2t + 1 of row g, with g = lane / 4 and t = lane % 4, and returns those of column g. */
static __device__ __forceinline__ uint32_t transpose_8x8(uint32_t elements)
{
    uint32_t transposed;

    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(elements));
    return transposed;
}
// [transpose]

#endif
