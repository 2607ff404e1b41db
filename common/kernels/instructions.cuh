/**
 * @file common/kernels/instructions.cuh
 * @brief GPU instructions for which CUDA C has no function. Chapter 13a uses plus_if_larger(), chapter 13c the others.
 *
 * The CPU build uses the header of the same name in common/simt/kernels instead.
 */
#ifndef KERNELS_INSTRUCTIONS_CUH
#define KERNELS_INSTRUCTIONS_CUH

#include <cuda_runtime.h>

// [approx]
/** Returns 2 to the power of x with a relative error of at most 2^-22.5; results below 2^-126 are 0. */
static __device__ __forceinline__ float approx_exp2(float x)
{
    float power;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

/** Returns 1 / x within 1 ulp; results below 2^-126 are 0. */
static __device__ __forceinline__ float approx_reciprocal(float x)
{
    float reciprocal;

    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
    return reciprocal;
}

/** Returns the larger number, or NaN if either number is NaN (fmaxf() would return the other number). */
static __device__ __forceinline__ float max_or_nan(float a, float b)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    float larger;

    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
    return larger;
#else /* for GPUs without the instruction; x != x only for NaN */
    return a != a ? a : b != b ? b : fmaxf(a, b);
#endif
}
// [approx]

// [plus_if_larger]
/** Returns count + (a > b) in three additions: the carry of a + ~b is 1 if a > b. */
static __device__ __forceinline__ int plus_if_larger(int count, unsigned long long a, unsigned long long b)
{
    asm("{\n"
        ".reg .u32 sum;\n"
        "add.cc.u32 sum, %1, %3;\n"
        "addc.cc.u32 sum, %2, %4;\n"
        "addc.u32 %0, %0, 0;\n"
        "}"
        : "+r"(count)
        : "r"((unsigned)a), "r"((unsigned)(a >> 32)), "r"(~(unsigned)b), "r"(~(unsigned)(b >> 32)));
    return count;
}
// [plus_if_larger]

#endif
