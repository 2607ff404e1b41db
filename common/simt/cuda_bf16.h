/**
 * @file cuda_bf16.h
 * @brief CUDA's __nv_bfloat16 and __nv_bfloat162 for kernels that run on a CPU. In C, both types are opaque structures.
 */
#ifndef SIMT_CUDA_BF16_H
#define SIMT_CUDA_BF16_H

#include "small_float_type.h"

#ifndef __cplusplus

typedef struct __nv_bfloat16 {
    uint16_t __x;
} __nv_bfloat16;

typedef struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
} __nv_bfloat162;

#else

// clang-format off
struct simt_bfloat16_format {
    enum : uint32_t { INFINITE = 0x7f80 };
    static SIMT_METHOD float to_float(uint16_t bits) { return bfloat16_bits_to_float(bits); }
    static SIMT_METHOD uint16_t from_float(float value) { return float_to_bfloat16_bits(value); }
};

typedef simt_small_float<simt_bfloat16_format> __nv_bfloat16;
typedef simt_small_float2<simt_bfloat16_format> __nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)

SIMT_SMALL_FLOAT_CONVERSIONS_AND_PAIRS(bfloat16, __nv_bfloat16, bfloat162, __nv_bfloat162)
// clang-format on

#endif

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif
