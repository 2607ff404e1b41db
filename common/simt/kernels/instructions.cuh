/**
 * @file common/simt/kernels/instructions.cuh
 * @brief GPU instructions implemented in C++, exact where a GPU approximates. Replaces common/kernels/instructions.cuh,
 *        because this directory is searched first.
 */
#ifndef SIMT_INSTRUCTIONS_CUH
#define SIMT_INSTRUCTIONS_CUH

#include <cuda_runtime.h>

/**
 * Returns `value`, or 0 if it is subnormal, because the GPU's approximate instructions flush subnormal results to zero.
 */
SIMT_DEVICE float simt_flush_subnormal(float value)
{
    return fabsf(value) < __FLT_MIN__ ? 0.0f : value;
}

SIMT_DEVICE float approx_exp2(float x)
{
    return simt_flush_subnormal(exp2f(x));
}

SIMT_DEVICE float approx_reciprocal(float x)
{
    return simt_flush_subnormal(1.0f / x);
}

SIMT_DEVICE float max_or_nan(float a, float b)
{
    return ((a > b) | (a != a)) ? a : b;
}

/** Returns count + (a > b). */
SIMT_DEVICE int plus_if_larger(int count, unsigned long long a, unsigned long long b)
{
    return count + (a > b);
}

#endif
