/** @file dtype.cuh  The three number types inside a kernel: read as float, compute as float, round where PyTorch does. */
#ifndef KERNELS_DTYPE_CUH
#define KERNELS_DTYPE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

static __device__ __forceinline__ float to_float(float value)
{
    return value;
}

static __device__ __forceinline__ float to_float(__half value)
{
    return __half2float(value);
}

static __device__ __forceinline__ float to_float(__nv_bfloat16 value)
{
    return __bfloat162float(value);
}

/** `value` as a T would hold it: rounded to the nearest, ties to even. */
template <typename T>
static __device__ __forceinline__ float round_to(float value);

template <>
__device__ __forceinline__ float round_to<float>(float value)
{
    return value;
}

template <>
__device__ __forceinline__ float round_to<__half>(float value)
{
    return __half2float(__float2half_rn(value));
}

template <>
__device__ __forceinline__ float round_to<__nv_bfloat16>(float value)
{
    return __bfloat162float(__float2bfloat16_rn(value));
}

#endif
