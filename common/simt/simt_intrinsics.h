/**
 * @file simt_intrinsics.h
 * @brief CUDA's per-thread arithmetic functions: bits, integers, rounded arithmetic, conversions, bytes of a word.
 *        simt_device.h includes this header.
 *
 * No function has a branch, because all are inlined into kernels. Operations round as CUDA specifies, in every rounding
 * mode. Functions that CUDA approximates (__expf and its variants) are as accurate here as those of the C library.
 */
#ifndef SIMT_INTRINSICS_H
#define SIMT_INTRINSICS_H

#include "simt_device.h"
#include "small_float_type.h"

/* --- bits --------------------------------------------------------------------------------------------------------- */

/**
 * Returns a float's bits. A NaN that the host's arithmetic produces, for example by inf - inf, gets the bits of a GPU's
 * NaN.
 */
SIMT_DEVICE unsigned __float_as_uint(float value)
{
#if defined __x86_64__
    const unsigned of_host = 0xffc00000;
#else
    const unsigned of_host = 0x7fc00000;
#endif
    const unsigned bits = __builtin_bit_cast(unsigned, value), is_made = -(unsigned)(bits == of_host);

    return (bits & ~is_made) | (0x7fffffff & is_made);
}
SIMT_DEVICE int __float_as_int(float value)
{
    return (int)__float_as_uint(value);
}
SIMT_DEVICE float __uint_as_float(unsigned bits)
{
    return __builtin_bit_cast(float, bits);
}
SIMT_DEVICE float __int_as_float(int bits)
{
    return __builtin_bit_cast(float, bits);
}
SIMT_DEVICE long long __double_as_longlong(double value)
{
    return __builtin_bit_cast(long long, value);
}
SIMT_DEVICE double __longlong_as_double(long long bits)
{
    return __builtin_bit_cast(double, bits);
}
SIMT_DEVICE int __double2hiint(double value)
{
    return (int)(__builtin_bit_cast(unsigned long long, value) >> 32);
}
SIMT_DEVICE int __double2loint(double value)
{
    return (int)__builtin_bit_cast(unsigned long long, value);
}
SIMT_DEVICE double __hiloint2double(int high, int low)
{
    return __builtin_bit_cast(double, (unsigned long long)(unsigned)high << 32 | (unsigned)low);
}
SIMT_DEVICE int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
SIMT_DEVICE int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
/* Appends a 1 below the lowest bit, so that zero is not a special case. */
SIMT_DEVICE int __clz(int x)
{
    return __builtin_clzll((unsigned long long)(unsigned)x << 32 | 0x80000000u);
}
SIMT_DEVICE int __clzll(long long x)
{
    return __builtin_clzll((unsigned long long)x | 1) + (x == 0);
}
SIMT_DEVICE int __ffs(int x)
{
    return __builtin_ffs(x);
}
SIMT_DEVICE int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
SIMT_DEVICE unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
SIMT_DEVICE unsigned long long __brevll(unsigned long long x)
{
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
SIMT_DEVICE unsigned simt_selected_byte(unsigned x, unsigned y, unsigned selector)
{
    const unsigned long long bytes = (unsigned long long)y << 32 | x;

    return (unsigned)(bytes >> 8 * (selector & 7)) & 0xff;
}
/*
 * Uses three of the four bits of each selector. CUDA's function clears the fourth; if it were set, PTX's prmt would
 * replicate a sign.
 */
SIMT_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    return simt_selected_byte(x, y, selector) | simt_selected_byte(x, y, selector >> 4) << 8 |
           simt_selected_byte(x, y, selector >> 8) << 16 | simt_selected_byte(x, y, selector >> 12) << 24;
}
SIMT_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
SIMT_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
SIMT_DEVICE unsigned simt_clamped_shift(unsigned shift)
{
    return ((shift & 31) & (0u - (shift < 32))) | (unsigned)(shift >= 32) << 5;
}
SIMT_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << simt_clamped_shift(shift) >> 32);
}
SIMT_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> simt_clamped_shift(shift));
}
/*
 * --- integers -------------------------------------------------------------------------------------------------------
 */

SIMT_DEVICE unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((unsigned long long)x * y >> 32);
}
SIMT_DEVICE int __mulhi(int x, int y)
{
    return (int)((long long)x * y >> 32);
}

SIMT_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{
    __extension__ typedef unsigned __int128 wide;

    return (unsigned long long)((wide)x * y >> 64);
}
SIMT_DEVICE long long __mul64hi(long long x, long long y)
{
    __extension__ typedef __int128 wide;

    return (long long)((wide)x * y >> 64);
}
SIMT_DEVICE int __mul24(int x, int y)
{
    return (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8));
}
SIMT_DEVICE unsigned __umul24(unsigned x, unsigned y)
{
    return (x & 0xffffff) * (y & 0xffffff);
}
SIMT_DEVICE unsigned __sad(int x, int y, unsigned sum)
{
    return (unsigned)__builtin_llabs((long long)x - y) + sum;
}
SIMT_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned sum)
{
    return (unsigned)__builtin_llabs((long long)x - y) + sum;
}
SIMT_DEVICE int __hadd(int x, int y)
{
    return (int)(((long long)x + y) >> 1);
}
SIMT_DEVICE int __rhadd(int x, int y)
{
    return (int)(((long long)x + y + 1) >> 1);
}
SIMT_DEVICE unsigned __uhadd(unsigned x, unsigned y)
{
    return (unsigned)(((unsigned long long)x + y) >> 1);
}
SIMT_DEVICE unsigned __urhadd(unsigned x, unsigned y)
{
    return (unsigned)(((unsigned long long)x + y + 1) >> 1);
}

#define SIMT_DEFINE_MIN_MAX(type)        \
    SIMT_DEVICE type min(type x, type y) \
    {                                    \
        return y < x ? y : x;            \
    }                                    \
    SIMT_DEVICE type max(type x, type y) \
    {                                    \
        return x < y ? y : x;            \
    }

SIMT_DEFINE_MIN_MAX(int)
SIMT_DEFINE_MIN_MAX(unsigned)
SIMT_DEFINE_MIN_MAX(long)
SIMT_DEFINE_MIN_MAX(unsigned long)
SIMT_DEFINE_MIN_MAX(long long)
SIMT_DEFINE_MIN_MAX(unsigned long long)
#undef SIMT_DEFINE_MIN_MAX

/* Compares a signed and an unsigned operand as unsigned numbers, as CUDA does. */
SIMT_DEVICE unsigned min(int x, unsigned y)
{
    return min((unsigned)x, y);
}
SIMT_DEVICE unsigned min(unsigned x, int y)
{
    return min(x, (unsigned)y);
}
SIMT_DEVICE unsigned max(int x, unsigned y)
{
    return max((unsigned)x, y);
}
SIMT_DEVICE unsigned max(unsigned x, int y)
{
    return max(x, (unsigned)y);
}
SIMT_DEVICE float min(float x, float y)
{
    return fminf(x, y);
}
SIMT_DEVICE float max(float x, float y)
{
    return fmaxf(x, y);
}
SIMT_DEVICE double min(double x, double y)
{
    return fmin(x, y);
}
SIMT_DEVICE double max(double x, double y)
{
    return fmax(x, y);
}
SIMT_DEVICE double min(float x, double y)
{
    return fmin((double)x, y);
}
SIMT_DEVICE double min(double x, float y)
{
    return fmin(x, (double)y);
}
SIMT_DEVICE double max(float x, double y)
{
    return fmax((double)x, y);
}
SIMT_DEVICE double max(double x, float y)
{
    return fmax(x, (double)y);
}
#define SIMT_DEFINE_PREFIXED_MIN_MAX(prefix, type) \
    SIMT_DEVICE type prefix##min(type x, type y)   \
    {                                              \
        return min(x, y);                          \
    }                                              \
    SIMT_DEVICE type prefix##max(type x, type y)   \
    {                                              \
        return max(x, y);                          \
    }
SIMT_DEFINE_PREFIXED_MIN_MAX(u, unsigned)
SIMT_DEFINE_PREFIXED_MIN_MAX(ll, long long)
SIMT_DEFINE_PREFIXED_MIN_MAX(ull, unsigned long long)
#undef SIMT_DEFINE_PREFIXED_MIN_MAX

/*
 * --- halves and bytes of a word
 * ---------------------------------------------------------------------------------------
 */

/** Returns part `i` of a word that is divided into parts of sizeof(Part) bytes. */
template <class Part>
SIMT_DEVICE int simt_extract_part(unsigned word, unsigned i)
{
    return (Part)(word >> 8 * sizeof(Part) * i);
}
template <class Part>
SIMT_DEVICE unsigned simt_shift_part_into_place(int value, unsigned i)
{
    return ((unsigned)value & (unsigned)((1ull << 8 * sizeof(Part)) - 1)) << 8 * sizeof(Part) * i;
}
template <class Operation, class Part>
SIMT_DEVICE unsigned simt_apply_to_each_part(unsigned x, unsigned y)
{
    unsigned result = simt_shift_part_into_place<Part>(
                          Operation::of(simt_extract_part<Part>(x, 0), simt_extract_part<Part>(y, 0)), 0) |
                      simt_shift_part_into_place<Part>(
                          Operation::of(simt_extract_part<Part>(x, 1), simt_extract_part<Part>(y, 1)), 1);

    if constexpr (sizeof(Part) == 1)
        result |= simt_shift_part_into_place<Part>(
                      Operation::of(simt_extract_part<Part>(x, 2), simt_extract_part<Part>(y, 2)), 2) |
                  simt_shift_part_into_place<Part>(
                      Operation::of(simt_extract_part<Part>(x, 3), simt_extract_part<Part>(y, 3)), 3);
    return result;
}

#define SIMT_DEFINE_SIMD_INTRINSICS(name, sign, expression)                  \
    struct simt_parts_##name {                                               \
        static SIMT_METHOD int of(int x, int y)                              \
        {                                                                    \
            return expression;                                               \
        }                                                                    \
    };                                                                       \
    SIMT_DEVICE unsigned __v##name##2(unsigned x, unsigned y)                \
    {                                                                        \
        return simt_apply_to_each_part<simt_parts_##name, sign short>(x, y); \
    }                                                                        \
    SIMT_DEVICE unsigned __v##name##4(unsigned x, unsigned y)                \
    {                                                                        \
        return simt_apply_to_each_part<simt_parts_##name, sign char>(x, y);  \
    }
SIMT_DEFINE_SIMD_INTRINSICS(add, unsigned, x + y)
SIMT_DEFINE_SIMD_INTRINSICS(sub, unsigned, x - y)
SIMT_DEFINE_SIMD_INTRINSICS(avgu, unsigned, (x + y + 1) >> 1)
SIMT_DEFINE_SIMD_INTRINSICS(avgs, signed, (x + y + (x + y >= 0)) >> 1)
SIMT_DEFINE_SIMD_INTRINSICS(maxu, unsigned, x > y ? x : y)
SIMT_DEFINE_SIMD_INTRINSICS(maxs, signed, x > y ? x : y)
SIMT_DEFINE_SIMD_INTRINSICS(minu, unsigned, x < y ? x : y)
SIMT_DEFINE_SIMD_INTRINSICS(mins, signed, x < y ? x : y)
SIMT_DEFINE_SIMD_INTRINSICS(absdiffu, unsigned, __builtin_abs(x - y))
SIMT_DEFINE_SIMD_INTRINSICS(absdiffs, signed, __builtin_abs(x - y))
#define SIMT_DEFINE_SIMD_COMPARISONS(name, sign, condition)    \
    SIMT_DEFINE_SIMD_INTRINSICS(cmp##name, sign, -(condition)) \
    SIMT_DEFINE_SIMD_INTRINSICS(set##name, sign, condition)
SIMT_DEFINE_SIMD_COMPARISONS(eq, unsigned, x == y)
SIMT_DEFINE_SIMD_COMPARISONS(ne, unsigned, x != y)
SIMT_DEFINE_SIMD_COMPARISONS(gtu, unsigned, x > y)
SIMT_DEFINE_SIMD_COMPARISONS(gts, signed, x > y)
SIMT_DEFINE_SIMD_COMPARISONS(geu, unsigned, x >= y)
SIMT_DEFINE_SIMD_COMPARISONS(ges, signed, x >= y)
SIMT_DEFINE_SIMD_COMPARISONS(ltu, unsigned, x < y)
SIMT_DEFINE_SIMD_COMPARISONS(lts, signed, x < y)
SIMT_DEFINE_SIMD_COMPARISONS(leu, unsigned, x <= y)
SIMT_DEFINE_SIMD_COMPARISONS(les, signed, x <= y)
#undef SIMT_DEFINE_SIMD_COMPARISONS
#undef SIMT_DEFINE_SIMD_INTRINSICS

#define SIMT_DEFINE_DOT_PRODUCTS(type, sign)                                                                         \
    SIMT_DEVICE type __dp4a(type x, type y, type sum)                                                                \
    {                                                                                                                \
        return sum +                                                                                                 \
               (type)(simt_extract_part<sign char>((unsigned)x, 0) * simt_extract_part<sign char>((unsigned)y, 0) +  \
                      simt_extract_part<sign char>((unsigned)x, 1) * simt_extract_part<sign char>((unsigned)y, 1) +  \
                      simt_extract_part<sign char>((unsigned)x, 2) * simt_extract_part<sign char>((unsigned)y, 2) +  \
                      simt_extract_part<sign char>((unsigned)x, 3) * simt_extract_part<sign char>((unsigned)y, 3));  \
    }                                                                                                                \
    SIMT_DEVICE type __dp2a_lo(type x, type y, type sum)                                                             \
    {                                                                                                                \
        return sum +                                                                                                 \
               (type)(simt_extract_part<sign short>((unsigned)x, 0) * simt_extract_part<sign char>((unsigned)y, 0) + \
                      simt_extract_part<sign short>((unsigned)x, 1) * simt_extract_part<sign char>((unsigned)y, 1)); \
    }                                                                                                                \
    SIMT_DEVICE type __dp2a_hi(type x, type y, type sum)                                                             \
    {                                                                                                                \
        return __dp2a_lo(x, (type)((unsigned)y >> 16), sum);                                                         \
    }
SIMT_DEFINE_DOT_PRODUCTS(int, signed)
SIMT_DEFINE_DOT_PRODUCTS(unsigned, unsigned)
#undef SIMT_DEFINE_DOT_PRODUCTS

/* --- rounded arithmetic ------------------------------------------------------------------------------------------- */

/** A type that holds the product of any two Real numbers exactly. */
template <class Real>
struct simt_wider;
template <>
struct simt_wider<float> {
    typedef double type;
    typedef uint32_t bits;
};
template <>
struct simt_wider<double> {
#if __LDBL_MANT_DIG__ == 113
    typedef long double type;
#else
    __extension__ typedef __float128 type;
#endif
    typedef uint64_t bits;
};

template <class Real>
SIMT_DEVICE int simt_sign_bit(Real value)
{
    return __builtin_signbit(value) != 0;
}

/**
 * Returns `nearest` or its neighbour, as the mode requires; `exact_above` and `exact_below` indicate on which side of
 * `nearest` the exact value lies.
 */
template <simt_rounding mode, class Real>
SIMT_DEVICE Real simt_round_in_mode(Real nearest, bool exact_above, bool exact_below)
{
    if constexpr (mode == SIMT_ROUND_NEAREST)
        return nearest;
    return __builtin_bit_cast(Real,
                              simt_step_to_neighbour<mode>(__builtin_bit_cast(typename simt_wider<Real>::bits, nearest),
                                                           exact_above, exact_below));
}

/**
 * Returns term + other, rounded in the given mode; `nearest` is the sum rounded to nearest. When rounding down, a sum
 * that is exactly 0 is -0 unless both operands are +0.
 */
template <simt_rounding mode, class Real>
SIMT_DEVICE Real simt_rounded_sum(typename simt_wider<Real>::type term, Real other, Real nearest)
{
    typedef typename simt_wider<Real>::type wide;
    const wide sum = term + other;
    const wide taken = sum - term;
    const wide lost = (term - (sum - taken)) + (other - taken);
    const bool above = (sum > nearest) | ((sum == nearest) & (lost > 0));
    const bool below = (sum < nearest) | ((sum == nearest) & (lost < 0));
    const bool minus = (mode == SIMT_ROUND_DOWN) & (nearest == 0) & !above & !below & !simt_sign_bit(nearest) &
                       (simt_sign_bit((Real)term) | simt_sign_bit(other));

    return simt_round_in_mode<mode>((Real)(1 - 2 * minus) * nearest, above, below);
}
template <simt_rounding mode, class Real>
SIMT_DEVICE Real simt_rounded_product(Real x, Real y)
{
    const typename simt_wider<Real>::type exact = (typename simt_wider<Real>::type)x * y;
    const Real nearest = x * y;

    return simt_round_in_mode<mode>(nearest, exact > nearest, exact < nearest);
}
template <simt_rounding mode, class Real>
SIMT_DEVICE Real simt_rounded_quotient(Real x, Real y)
{
    const Real nearest = x / y;
    const typename simt_wider<Real>::type back = (typename simt_wider<Real>::type)nearest * y;
    const bool more = x > back, less = x < back;

    return simt_round_in_mode<mode>(nearest, (more & (y > 0)) | (less & (y < 0)), (less & (y > 0)) | (more & (y < 0)));
}
template <simt_rounding mode, class Real>
SIMT_DEVICE Real simt_rounded_root(Real x, Real nearest)
{
    const typename simt_wider<Real>::type back = (typename simt_wider<Real>::type)nearest * nearest;

    return simt_round_in_mode<mode>(nearest, x > back, x < back);
}

#define SIMT_DEFINE_ROUNDED_OPERATIONS(real, letter, fma_name, suffix, mode, fma, sqrt)         \
    SIMT_DEVICE real __##letter##add_##suffix(real x, real y)                                   \
    {                                                                                           \
        return simt_rounded_sum<mode>(x, y, x + y);                                             \
    }                                                                                           \
    SIMT_DEVICE real __##letter##sub_##suffix(real x, real y)                                   \
    {                                                                                           \
        return simt_rounded_sum<mode>(x, -y, x - y);                                            \
    }                                                                                           \
    SIMT_DEVICE real __##letter##mul_##suffix(real x, real y)                                   \
    {                                                                                           \
        return simt_rounded_product<mode>(x, y);                                                \
    }                                                                                           \
    SIMT_DEVICE real __##letter##div_##suffix(real x, real y)                                   \
    {                                                                                           \
        return simt_rounded_quotient<mode>(x, y);                                               \
    }                                                                                           \
    SIMT_DEVICE real __##letter##rcp_##suffix(real x)                                           \
    {                                                                                           \
        return simt_rounded_quotient<mode>((real)1, x);                                         \
    }                                                                                           \
    SIMT_DEVICE real __##letter##sqrt_##suffix(real x)                                          \
    {                                                                                           \
        return simt_rounded_root<mode>(x, sqrt(x));                                             \
    }                                                                                           \
    SIMT_DEVICE real fma_name##_##suffix(real x, real y, real z)                                \
    {                                                                                           \
        return simt_rounded_sum<mode>((typename simt_wider<real>::type)x * y, z, fma(x, y, z)); \
    }
#define SIMT_DEFINE_ALL_ROUNDED_OPERATIONS(suffix, mode)                        \
    SIMT_DEFINE_ROUNDED_OPERATIONS(float, f, __fmaf, suffix, mode, fmaf, sqrtf) \
    SIMT_DEFINE_ROUNDED_OPERATIONS(double, d, __fma, suffix, mode, fma, sqrt)   \
    SIMT_DEVICE float __double2float_##suffix(double x)                         \
    {                                                                           \
        return simt_round_in_mode<mode>((float)x, x > (float)x, x < (float)x);  \
    }
SIMT_DEFINE_ALL_ROUNDED_OPERATIONS(rn, SIMT_ROUND_NEAREST)
SIMT_DEFINE_ALL_ROUNDED_OPERATIONS(rz, SIMT_ROUND_TO_ZERO)
SIMT_DEFINE_ALL_ROUNDED_OPERATIONS(rd, SIMT_ROUND_DOWN)
SIMT_DEFINE_ALL_ROUNDED_OPERATIONS(ru, SIMT_ROUND_UP)
#undef SIMT_DEFINE_ALL_ROUNDED_OPERATIONS
#undef SIMT_DEFINE_ROUNDED_OPERATIONS

SIMT_DEVICE float __frsqrt_rn(float x)
{
    return (float)(1.0 / sqrt((double)x));
}

/*
 * --- numbers to integers and back -----------------------------------------------------------------------------------
 */

#define SIMT_DEFINE_INTEGER_CONVERSIONS(name, type, suffix, mode, round)                                    \
    SIMT_DEVICE type __float2##name##_##suffix(float x)                                                     \
    {                                                                                                       \
        return simt_cast_to_integer_as_gpu<type>((float)round((double)x));                                  \
    }                                                                                                       \
    SIMT_DEVICE type __double2##name##_##suffix(double x)                                                   \
    {                                                                                                       \
        return simt_cast_to_integer_as_gpu<type>(round(x));                                                 \
    }                                                                                                       \
    SIMT_DEVICE float __##name##2float_##suffix(type x)                                                     \
    {                                                                                                       \
        return simt_round_in_mode<mode>((float)x, x > (long double)(float)x, x < (long double)(float)x);    \
    }                                                                                                       \
    SIMT_DEVICE double __##name##2double_##suffix(type x)                                                   \
    {                                                                                                       \
        return simt_round_in_mode<mode>((double)x, x > (long double)(double)x, x < (long double)(double)x); \
    }
#define SIMT_DEFINE_ALL_INTEGER_CONVERSIONS(suffix, mode, round)         \
    SIMT_DEFINE_INTEGER_CONVERSIONS(int, int, suffix, mode, round)       \
    SIMT_DEFINE_INTEGER_CONVERSIONS(uint, unsigned, suffix, mode, round) \
    SIMT_DEFINE_INTEGER_CONVERSIONS(ll, long long, suffix, mode, round)  \
    SIMT_DEFINE_INTEGER_CONVERSIONS(ull, unsigned long long, suffix, mode, round)
SIMT_DEFINE_ALL_INTEGER_CONVERSIONS(rn, SIMT_ROUND_NEAREST, rint)
SIMT_DEFINE_ALL_INTEGER_CONVERSIONS(rz, SIMT_ROUND_TO_ZERO, trunc)
SIMT_DEFINE_ALL_INTEGER_CONVERSIONS(rd, SIMT_ROUND_DOWN, floor)
SIMT_DEFINE_ALL_INTEGER_CONVERSIONS(ru, SIMT_ROUND_UP, ceil)
#undef SIMT_DEFINE_ALL_INTEGER_CONVERSIONS
#undef SIMT_DEFINE_INTEGER_CONVERSIONS

/*
 * --- constants, as in math_constants.h ------------------------------------------------------------------------------
 */

#define CUDART_INF_F  __int_as_float(0x7f800000)
#define CUDART_NAN_F  __int_as_float(0x7fffffff)
#define CUDART_INF    __longlong_as_double(0x7ff0000000000000ll)
#define CUDART_NAN    __longlong_as_double(0x7ff8000000000000ll)
#define CUDART_PI_F   3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_PI     3.1415926535897931e+0
#define CUDART_L2E_F  1.442695041f
#define CUDART_LN2_F  0.693147181f

/* --- functions --------------------------------------------------------------------------------------------------- */

/* These are macros, because glibc declares functions of the same names. */
#define __expf(x)    expf(x)
#define __exp10f(x)  exp10f(x)
#define __logf(x)    logf(x)
#define __log2f(x)   log2f(x)
#define __log10f(x)  log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x)    sinf(x)
#define __cosf(x)    cosf(x)
#define __tanf(x)    tanf(x)

#define rsqrtf(x)          simt_rsqrt((float)(x))
#define rsqrt(x)           simt_rsqrt(x)
#define sinpif(x)          simt_sinpi_plus_quarter_turns((float)(x), 0)
#define cospif(x)          simt_sinpi_plus_quarter_turns((float)(x), 1)
#define sinpi(x)           simt_sinpi_plus_quarter_turns((double)(x), 0)
#define cospi(x)           simt_sinpi_plus_quarter_turns((double)(x), 1)
#define sincospif(x, s, c) simt_sincospi((float)(x), s, c)
#define sincospi(x, s, c)  simt_sincospi((double)(x), s, c)
#define __sincosf(x, s, c) sincosf(x, s, c)
#define fdividef(x, y)     __fdividef(x, y)

template <class Real>
SIMT_DEVICE Real simt_rsqrt(Real x)
{
    return (Real)1 / (Real)__builtin_sqrt(x);
}
/** Returns sin(pi (x + quarters / 2)), which is exact if x + quarters / 2 is a multiple of 1/2. */
template <class Real>
SIMT_DEVICE Real simt_sinpi_plus_quarter_turns(Real x, int quarters)
{
    const double part = remainder((double)x, 2.0), nearest = rint(2.0 * part), rest = M_PI * (part - nearest / 2);
    const double side[] = {sin(rest), cos(rest), -sin(rest), -cos(rest)};

    return (Real)(side[((int)nearest + quarters) & 3] + 0.0);
}
template <class Real>
SIMT_DEVICE void simt_sincospi(Real x, Real *sine, Real *cosine)
{
    *sine = simt_sinpi_plus_quarter_turns(x, 0);
    *cosine = simt_sinpi_plus_quarter_turns(x, 1);
}
SIMT_DEVICE float rcbrtf(float x)
{
    return (float)(1.0 / cbrt((double)x));
}
SIMT_DEVICE double rcbrt(double x)
{
    return 1.0 / cbrt(x);
}
SIMT_DEVICE float rhypotf(float x, float y)
{
    return (float)(1.0 / hypot((double)x, (double)y));
}
SIMT_DEVICE double rhypot(double x, double y)
{
    return 1.0 / hypot(x, y);
}
SIMT_DEVICE float norm3df(float x, float y, float z)
{
    return (float)sqrt((double)x * x + (double)y * y + (double)z * z);
}
SIMT_DEVICE float rnorm3df(float x, float y, float z)
{
    return (float)(1.0 / sqrt((double)x * x + (double)y * y + (double)z * z));
}
SIMT_DEVICE double normcdf(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}
SIMT_DEVICE float normcdff(float x)
{
    return (float)normcdf((double)x);
}
/*
 * Multiplies by the rounded reciprocal and rounds again, as a GPU does, so that x / x need not be 1. A reciprocal below
 * the smallest normal float becomes 0.
 */
SIMT_DEVICE float __fdividef(float x, float y)
{
    const float reciprocal = 1.0f / y;

    return x * (fabsf(reciprocal) < 0x1p-126f ? copysignf(0.0f, reciprocal) : reciprocal);
}
SIMT_DEVICE float __saturatef(float x)
{
    return fminf(fmaxf(x, 0.0f), 1.0f);
}

#endif
