/** @file dtype.cuh Chapter 05's data types: kernels compute in float and round to the type where PyTorch does. */
#ifndef KERNELS_DTYPE_CUH
#define KERNELS_DTYPE_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// [to_float]
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
// [to_float]

// [round_to]
/** Returns `value` rounded to the nearest value of type T, with ties to even. */
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
// [round_to]

/* --- arrays ------------------------------------------------------------------------------------------------------- */

// [unpack]
/** Returns element `i` of the 16 bytes in `word` as a float. */
static __device__ __forceinline__ float unpack(int4 word, const float *, int i)
{
    return __int_as_float(i == 0 ? word.x : i == 1 ? word.y : i == 2 ? word.z : word.w);
}

static __device__ __forceinline__ unsigned short unpack_16_bits(int4 word, int i)
{
    const int pair = i / 2 == 0 ? word.x : i / 2 == 1 ? word.y : i / 2 == 2 ? word.z : word.w;

    return (unsigned short)((unsigned)pair >> 16 * (i % 2));
}

static __device__ __forceinline__ float unpack(int4 word, const __half *, int i)
{
    return __half2float(__ushort_as_half(unpack_16_bits(word, i)));
}

static __device__ __forceinline__ float unpack(int4 word, const __nv_bfloat16 *, int i)
{
    return __bfloat162float(__ushort_as_bfloat16(unpack_16_bits(word, i)));
}
// [unpack]

// [load_floats]
/**
 * Reads `count` values into `to` and sets the other elements of `to` to 0. With VECTORS, each load reads 16 bytes;
 * `count` must then equal ROOM and fill whole loads, and `from` must be 16-byte aligned.
 */
template <bool VECTORS, typename T, int ROOM>
static __device__ __forceinline__ void load_floats(const T *from, int count, float (&to)[ROOM])
{
    constexpr int PER_WORD = 16 / sizeof(T);

    if constexpr (VECTORS) {
#pragma unroll
        for (int w = 0; w < ROOM / PER_WORD; w++) {
            const int4 word = ((const int4 *)from)[w];

#pragma unroll
            for (int i = 0; i < PER_WORD; i++)
                to[w * PER_WORD + i] = unpack(word, from, i);
        }
    } else {
#pragma unroll
        for (int e = 0; e < ROOM; e++)
            to[e] = e < count ? to_float(from[e]) : 0.0f;
    }
}
// [load_floats]

#endif
