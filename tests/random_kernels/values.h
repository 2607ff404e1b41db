/**
 * @file values.h
 * @brief Device functions that random kernels call. All are pure and have neither branches nor loops.
 *
 * A NaN's sign and payload differ between processors, so every conversion from or to bits replaces a NaN with one
 * canonical NaN. A GPU and a CPU then produce the same results.
 */
#ifndef RANDOM_KERNELS_VALUES_H
#define RANDOM_KERNELS_VALUES_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define DEVICE_FUNCTION static __device__ __forceinline__

/* --- bits of a number --------------------------------------------------------------------------------------------- */

DEVICE_FUNCTION unsigned bits_of(float x)
{
    return x != x ? 0x7fffffffu : __float_as_uint(x);
}
DEVICE_FUNCTION unsigned long long bits_of(double x)
{
    return x != x ? 0x7ff8000000000000ull : (unsigned long long)__double_as_longlong(x);
}
DEVICE_FUNCTION unsigned bits_of(__half x)
{
    return __hisnan(x) ? 0x7fffu : __half_as_ushort(x);
}
DEVICE_FUNCTION unsigned bits_of(__nv_bfloat16 x)
{
    return __hisnan(x) ? 0x7fffu : __bfloat16_as_ushort(x);
}
DEVICE_FUNCTION float float_of(unsigned bits)
{
    return __uint_as_float((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : bits);
}
DEVICE_FUNCTION double double_of(unsigned long long bits)
{
    const unsigned long long infinite = 0x7ff0000000000000ull, magnitude = bits & 0x7fffffffffffffffull;

    return __longlong_as_double((long long)(magnitude > infinite ? 0x7ff8000000000000ull : bits));
}
DEVICE_FUNCTION __half half_of(unsigned bits)
{
    return __ushort_as_half((unsigned short)((bits & 0x7fffu) > 0x7c00u ? 0x7fffu : bits));
}
DEVICE_FUNCTION __nv_bfloat16 bfloat16_of(unsigned bits)
{
    return __ushort_as_bfloat16((unsigned short)((bits & 0x7fffu) > 0x7f80u ? 0x7fffu : bits));
}

/* --- values that stay finite and defined -------------------------------------------------------------------------- */

/** Returns x, or 1 if x is a NaN, whose sign is undefined. */
DEVICE_FUNCTION float not_nan(float x)
{
    return x != x ? 1.0f : x;
}
DEVICE_FUNCTION double not_nan(double x)
{
    return x != x ? 1.0 : x;
}
/** Returns x, or `other` if x is a NaN or so large that results would soon overflow to infinity. */
DEVICE_FUNCTION float bounded_or(float x, float other)
{
    return fabsf(x) < 1e9f ? x : other;
}
DEVICE_FUNCTION double bounded_or(double x, double other)
{
    return fabs(x) < 1e9 ? x : other;
}

/* --- lanes -------------------------------------------------------------------------------------------------------- */

/** Returns the first lane of the mask from lane `start` on, wrapping around. */
DEVICE_FUNCTION unsigned first_lane_from(unsigned mask, unsigned start)
{
    start &= 31u;
    return ((unsigned)__ffs((int)__funnelshift_r(mask, mask, start)) - 1u + start) & 31u;
}
/** Returns the mask of the lane's segment of `width` lanes; `width` is a power of two. */
DEVICE_FUNCTION unsigned segment_mask(unsigned lane, unsigned width)
{
    return 0xffffffffu >> (32u - width) << (lane & (0u - width));
}
/** Returns the distance to the nearest lane of the mask below this lane, or 0 if there is none. */
DEVICE_FUNCTION unsigned distance_down(unsigned mask, unsigned lane)
{
    const unsigned below = mask & ((1u << lane) - 1u);

    return below != 0u ? lane - (31u - (unsigned)__clz((int)below)) : 0u;
}
/** Returns the distance to the nearest lane of the mask above this lane, or 0 if there is none. */
DEVICE_FUNCTION unsigned distance_up(unsigned mask, unsigned lane)
{
    const unsigned above = mask & (0xfffffffeu << lane);

    return above != 0u ? (unsigned)__ffs((int)above) - 1u - lane : 0u;
}

#endif
