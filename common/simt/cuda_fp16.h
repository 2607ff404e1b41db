/** @file cuda_fp16.h  CUDA's __half and __half2 on a CPU. C sees opaque structures. */
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

SIMT_INLINE float __half2float(__half value) { return value; }
SIMT_INLINE __half __float2half(float value) { return value; }
SIMT_INLINE __half __float2half_rn(float value) { return value; }
SIMT_INLINE __half __double2half(double value) { return value; }
SIMT_INLINE __half __int2half_rn(int value) { return value; }
SIMT_INLINE __half __uint2half_rn(unsigned int value) { return value; }

SIMT_INLINE unsigned short __half_as_ushort(__half value) { return value.__x; }
SIMT_INLINE short __half_as_short(__half value) { return (short)value.__x; }
SIMT_INLINE __half __ushort_as_half(unsigned short bits) { return __half::from_bits(bits); }
SIMT_INLINE __half __short_as_half(short bits) { return __half::from_bits((unsigned short)bits); }

SIMT_INLINE float2 __half22float2(__half2 pair) { return make_float2(pair.x, pair.y); }
SIMT_INLINE __half2 __float22half2_rn(float2 pair) { return __half2(pair.x, pair.y); }
SIMT_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2(x, y); }
SIMT_INLINE __half2 __float2half2_rn(float value) { return __half2(value, value); }
SIMT_INLINE __half2 __half2half2(__half value) { return __half2(value, value); }
SIMT_INLINE __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
SIMT_INLINE __half2 make_half2(__half x, __half y) { return __half2(x, y); }
SIMT_INLINE __half __low2half(__half2 pair) { return pair.x; }
SIMT_INLINE __half __high2half(__half2 pair) { return pair.y; }

// clang-format on

#endif

typedef __half half;
typedef __half2 half2;

#endif
