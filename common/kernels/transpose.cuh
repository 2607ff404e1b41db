/**
 * @file common/kernels/transpose.cuh
 * @brief A matrix of 8x8 elements of 16 bits in a warp's registers, transposed.
 *
 * The CPU build has a header of its own in common/simt/kernels, which it finds first.
 */
#ifndef KERNELS_TRANSPOSE_CUH
#define KERNELS_TRANSPOSE_CUH

#include <cuda_runtime.h>
#include <stdint.h>

// [transpose]
/** With g = lane / 4 and t = lane % 4: a lane gives elements 2t and 2t + 1 of row g, and gets those of column g. */
static __device__ __forceinline__ uint32_t transpose_8x8(uint32_t elements)
{
    uint32_t transposed;

    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(elements));
    return transposed;
}
// [transpose]

#endif
