/**
 * @file cuda_fp16.h
 * @brief CUDA's __half and __half2 for kernels that run on a CPU. In C, both types are opaque structures.
 */
#ifndef SIMT_CUDA_FP16_H
#define SIMT_CUDA_FP16_H

#include "small_float_type.h"

#ifndef __cplusplus

typedef struct __half {
    uint16_t __x;
} __half;

typedef struct __attribute__((aligned(4))) __half2 {
    __half x, y;
} __half2;

#else

// clang-format off
struct simt_half_format {
    enum : uint32_t { INFINITE = 0x7c00 };
    static SIMT_METHOD float to_float(uint16_t bits) { return half_bits_to_float(bits); }
    static SIMT_METHOD uint16_t from_float(float value) { return float_to_half_bits(value); }
};

typedef simt_small_float<simt_half_format> __half;
typedef simt_small_float2<simt_half_format> __half2;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)

SIMT_SMALL_FLOAT_CONVERSIONS_AND_PAIRS(half, __half, half2, __half2)
// clang-format on

#endif

typedef __half half;
typedef __half2 half2;

#endif
