/** @file cuda_bf16.h  CUDA's __nv_bfloat16 and __nv_bfloat162 on a CPU. C sees opaque structures. */
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

SIMT_INLINE float __bfloat162float(__nv_bfloat16 value) { return value; }
SIMT_INLINE __nv_bfloat16 __float2bfloat16(float value) { return value; }
SIMT_INLINE __nv_bfloat16 __float2bfloat16_rn(float value) { return value; }
SIMT_INLINE __nv_bfloat16 __double2bfloat16(double value) { return value; }
SIMT_INLINE __nv_bfloat16 __int2bfloat16_rn(int value) { return value; }
SIMT_INLINE __nv_bfloat16 __uint2bfloat16_rn(unsigned int value) { return value; }

SIMT_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.__x; }
SIMT_INLINE short __bfloat16_as_short(__nv_bfloat16 value) { return (short)value.__x; }
SIMT_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::from_bits(bits); }
SIMT_INLINE __nv_bfloat16 __short_as_bfloat16(short bits) { return __nv_bfloat16::from_bits((unsigned short)bits); }

SIMT_INLINE float2 __bfloat1622float2(__nv_bfloat162 pair) { return make_float2(pair.x, pair.y); }
SIMT_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 pair) { return __nv_bfloat162(pair.x, pair.y); }
SIMT_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(x, y); }
SIMT_INLINE __nv_bfloat162 __float2bfloat162_rn(float value) { return __nv_bfloat162(value, value); }
SIMT_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) { return __nv_bfloat162(value, value); }
SIMT_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
SIMT_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return __nv_bfloat162(x, y); }
SIMT_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 pair) { return pair.x; }
SIMT_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 pair) { return pair.y; }

// clang-format on

#endif

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif
