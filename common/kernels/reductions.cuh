/**
 * @file common/kernels/reductions.cuh
 * @brief CUDA's warp reductions, such as __reduce_max_sync(), for GPUs that lack the instructions.
 *
 * GPUs of compute capability 8.0 and above have these instructions. The build includes this file before every kernel
 * that nvcc compiles, so that kernels call the same functions on every GPU. The versions here use shuffles, five for a
 * full warp.
 */
#ifndef KERNELS_REDUCTIONS_CUH
#define KERNELS_REDUCTIONS_CUH

#include <cuda_runtime.h>

/** Returns the reduction by combine() of the values of all lanes in `mask`. All these lanes must call it together. */
template <typename T, typename Combine>
static __device__ __forceinline__ T reduce_by_shuffles(unsigned mask, T value, Combine combine)
{
    if (mask == 0xffffffffu) {
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2)
            value = combine(value, __shfl_xor_sync(mask, value, lanes));
        return value;
    }

    T all = __shfl_sync(mask, value, __ffs((int)mask) - 1);

    for (unsigned left = mask & (mask - 1); left != 0; left &= left - 1)
        all = combine(all, __shfl_sync(mask, value, __ffs((int)left) - 1));
    return all;
}

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define REDUCTION(T, name, combined)                                               \
    static __device__ __forceinline__ T name(unsigned mask, T value)               \
    {                                                                              \
        return reduce_by_shuffles(mask, value, [](T a, T b) { return combined; }); \
    }
REDUCTION(unsigned, __reduce_add_sync, a + b)
REDUCTION(unsigned, __reduce_min_sync, min(a, b))
REDUCTION(unsigned, __reduce_max_sync, max(a, b))
REDUCTION(int, __reduce_add_sync, a + b)
REDUCTION(int, __reduce_min_sync, min(a, b))
REDUCTION(int, __reduce_max_sync, max(a, b))
REDUCTION(unsigned, __reduce_and_sync, a &b)
REDUCTION(unsigned, __reduce_or_sync, a | b)
REDUCTION(unsigned, __reduce_xor_sync, a ^ b)
#undef REDUCTION
#endif

#endif
