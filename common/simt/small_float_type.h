/**
 * @file small_float_type.h
 * @brief Templates for CUDA's 16-bit number types and for pairs of such numbers; the parameter is the format, which
 *        converts the bits. cuda_fp16.h and cuda_bf16.h define the types with these templates.
 *
 * Sums, differences, products and quotients are computed in float and rounded again to 16 bits. A float has more than
 * twice as many significand bits, so that the result is the same as with a single rounding. A double that is not exact
 * is rounded to odd (see simt_round_to_odd), so that rounding it again to 16 bits is also correct. No function has a
 * branch, and all are inlined.
 */
#ifndef SIMT_SMALL_FLOAT_TYPE_H
#define SIMT_SMALL_FLOAT_TYPE_H

#include "small_floats.h"
#include "vector_types.h"

#include <math.h>

#ifdef __cplusplus

/* --- rounding ----------------------------------------------------------------------------------------------------- */

enum simt_rounding { SIMT_ROUND_NEAREST, SIMT_ROUND_TO_ZERO, SIMT_ROUND_DOWN, SIMT_ROUND_UP };

/** Returns `yes` if the condition holds, otherwise `no`, without a branch. */
template <class Integer>
SIMT_INLINE Integer simt_select(bool condition, Integer yes, Integer no)
{
    return (Integer)(no ^ ((yes ^ no) & (Integer)(0 - (Integer)condition)));
}

/**
 * Returns the bits of the number to which the given mode rounds: `nearest` or its neighbour, given whether the exact
 * value lies above (`exact_above`) or below (`exact_below`) it. `nearest` must have the sign of the exact value, even
 * if `nearest` is 0.
 */
template <simt_rounding mode, class Bits>
SIMT_INLINE Bits simt_step_to_neighbour(Bits nearest, bool exact_above, bool exact_below)
{
    const bool negative = nearest >> (sizeof(Bits) * 8 - 1);
    const bool up = exact_above & ((mode == SIMT_ROUND_UP) | ((mode == SIMT_ROUND_TO_ZERO) & negative));
    const bool down = exact_below & ((mode == SIMT_ROUND_DOWN) | ((mode == SIMT_ROUND_TO_ZERO) & !negative));

    return (Bits)(nearest + ((up & !negative) | (down & negative)) - ((up & negative) | (down & !negative)));
}

/**
 * Rounds to odd: rounds the exact value towards 0, and sets the lowest bit unless `nearest` is exact. A later rounding
 * to fewer digits gives the same number as rounding the exact value directly.
 */
SIMT_INLINE double simt_round_to_odd(double nearest, bool exact_above, bool exact_below)
{
    const uint64_t bits = __builtin_bit_cast(uint64_t, nearest);

    return __builtin_bit_cast(double, simt_step_to_neighbour<SIMT_ROUND_TO_ZERO>(bits, exact_above, exact_below) |
                                          (uint64_t)(exact_above | exact_below));
}

SIMT_INLINE double simt_sum_rounded_to_odd(double x, double y)
{
    const double sum = x + y, taken = sum - x, lost = (x - (sum - taken)) + (y - taken);

    return simt_round_to_odd(sum, lost > 0, lost < 0);
}

template <class Integer>
SIMT_INLINE double simt_integer_rounded_to_odd(Integer value)
{
    const double nearest = (double)value;

    return simt_round_to_odd(nearest, (long double)value > nearest, (long double)value < nearest);
}

/**
 * Converts a double that is an integer or a NaN; a value out of range becomes the nearest value of the integer type.
 */
template <class Integer>
SIMT_INLINE Integer simt_to_integer(double rounded, Integer nan)
{
    const bool is_signed = (Integer)-1 < (Integer)0;
    const int digits = sizeof(Integer) * 8 - is_signed;
    const double beyond = 2.0 * (double)(1ull << (digits - 1));
    const double largest = digits > 53 ? beyond * (1 - 0x1p-53) : beyond - 1;
    const Integer most = (Integer)(((1ull << (digits - 1)) - 1) * 2 + 1);
    const Integer within = (Integer)fmin(fmax(rounded, is_signed ? -beyond : 0.0), largest);

    return simt_select(rounded != rounded, nan, simt_select(rounded >= beyond, most, within));
}

/*
 * --- one number -----------------------------------------------------------------------------------------------------
 */

// clang-format off

/** A 16-bit number. `format` provides to_float(bits), from_float(value) and INFINITE, the bits of infinity. */
template <typename format>
struct simt_small_float {
    typedef simt_small_float self;

    uint16_t __x;

    simt_small_float() = default;
    SIMT_METHOD simt_small_float(float value) : __x(format::from_float(value)) {}
    SIMT_METHOD simt_small_float(double value) : __x(format::from_float(double_to_float_round_to_odd(value))) {}
    SIMT_METHOD simt_small_float(int value) : simt_small_float((double)value) {}
    SIMT_METHOD simt_small_float(unsigned int value) : simt_small_float((double)value) {}
    SIMT_METHOD simt_small_float(long long value) : simt_small_float(simt_integer_rounded_to_odd(value)) {}
    SIMT_METHOD simt_small_float(unsigned long long value) : simt_small_float(simt_integer_rounded_to_odd(value)) {}
    SIMT_METHOD operator float() const { return format::to_float(__x); }

    static SIMT_METHOD self from_bits(uint32_t bits)
    {
        self value;
        value.__x = (uint16_t)bits;
        return value;
    }

    /** Rounds a double that is exact or has been rounded to odd. */
    template <simt_rounding mode>
    static SIMT_METHOD self rounded(double value)
    {
        const self nearest = value;
        const double back = format::to_float(nearest.__x);
        return from_bits(simt_step_to_neighbour<mode>(nearest.__x, value > back, value < back));
    }

    SIMT_METHOD uint32_t is_nan() const { return (__x & 0x7fffu) > format::INFINITE; }

    /** Returns an unsigned number that increases with the value, with -0 below +0; returns `nan` for a NaN. */
    SIMT_METHOD uint32_t ordered_bits(uint32_t nan) const
    {
        return select_bits(is_nan(), nan, __x ^ (0x8000u | (0x7fffu & (0u - (__x >> 15)))));
    }

    friend SIMT_METHOD self operator+(self a, self b) { return (float)a + (float)b; }
    friend SIMT_METHOD self operator-(self a, self b) { return (float)a - (float)b; }
    friend SIMT_METHOD self operator*(self a, self b) { return (float)a * (float)b; }
    friend SIMT_METHOD self operator/(self a, self b) { return (float)a / (float)b; }
    friend SIMT_METHOD self operator+(self a) { return a; }
    friend SIMT_METHOD self operator-(self a) { return from_bits(a.__x ^ 0x8000u); }
    friend SIMT_METHOD self &operator+=(self &a, self b) { return a = a + b; }
    friend SIMT_METHOD self &operator-=(self &a, self b) { return a = a - b; }
    friend SIMT_METHOD self &operator*=(self &a, self b) { return a = a * b; }
    friend SIMT_METHOD self &operator/=(self &a, self b) { return a = a / b; }
    friend SIMT_METHOD self &operator++(self &a) { return a = a + self(1); }
    friend SIMT_METHOD self &operator--(self &a) { return a = a - self(1); }
    friend SIMT_METHOD self operator++(self &a, int) { const self old = a; ++a; return old; }
    friend SIMT_METHOD self operator--(self &a, int) { const self old = a; --a; return old; }
    friend SIMT_METHOD bool operator==(self a, self b) { return (float)a == (float)b; }
    friend SIMT_METHOD bool operator!=(self a, self b) { return (float)a != (float)b; }
    friend SIMT_METHOD bool operator<(self a, self b) { return (float)a < (float)b; }
    friend SIMT_METHOD bool operator<=(self a, self b) { return (float)a <= (float)b; }
    friend SIMT_METHOD bool operator>(self a, self b) { return (float)a > (float)b; }
    friend SIMT_METHOD bool operator>=(self a, self b) { return (float)a >= (float)b; }

    friend SIMT_METHOD self __hneg(self a) { return -a; }
    friend SIMT_METHOD self __habs(self a) { return from_bits(a.__x & 0x7fffu); }
    friend SIMT_METHOD self __hfma(self a, self b, self c)
    {
        return simt_sum_rounded_to_odd((double)(float)a * (double)(float)b, (float)c);
    }
    friend SIMT_METHOD self __hfma_relu(self a, self b, self c)
    {
        const self sum = __hfma(a, b, c);
        return from_bits(sum.__x & (0u - ((uint32_t)(sum.__x >> 15 == 0) | sum.is_nan())));
    }

    /** Returns the value clamped to [0, 1], or 0 for a NaN. */
    SIMT_METHOD self saturated() const
    {
        const self one = 1;
        const uint32_t positive = __x & (0u - (uint32_t)(!(__x >> 15) & !is_nan()));
        return from_bits(select_bits(positive > one.__x, one.__x, positive));
    }
    friend SIMT_METHOD self __hfma_sat(self a, self b, self c) { return __hfma(a, b, c).saturated(); }

#define SIMT_SMALL_FLOAT_OPERATION(name, operation) \
    friend SIMT_METHOD self __h##name(self a, self b) { return a operation b; } \
    friend SIMT_METHOD self __h##name##_rn(self a, self b) { return a operation b; } \
    friend SIMT_METHOD self __h##name##_sat(self a, self b) { return (a operation b).saturated(); }
    SIMT_SMALL_FLOAT_OPERATION(add, +)
    SIMT_SMALL_FLOAT_OPERATION(sub, -)
    SIMT_SMALL_FLOAT_OPERATION(mul, *)
    SIMT_SMALL_FLOAT_OPERATION(div, /)
#undef SIMT_SMALL_FLOAT_OPERATION

/* Defines a function that is computed in double, with negligible error, and then rounded. */
#define SIMT_SMALL_FLOAT_MATH_FUNCTION(name, expression_of_x) \
    friend SIMT_METHOD self h##name(self a) \
    { \
        const double x = (float)a; \
        return expression_of_x; \
    }
    SIMT_SMALL_FLOAT_MATH_FUNCTION(sqrt, __builtin_sqrt(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(rsqrt, 1 / __builtin_sqrt(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(rcp, 1 / x)
    SIMT_SMALL_FLOAT_MATH_FUNCTION(exp, __builtin_exp(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(exp2, __builtin_exp2(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(exp10, __builtin_pow(10, x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(log, __builtin_log(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(log2, __builtin_log2(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(log10, __builtin_log10(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(sin, __builtin_sin(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(cos, __builtin_cos(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(tanh, __builtin_tanh(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(floor, __builtin_floor(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(ceil, __builtin_ceil(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(trunc, __builtin_trunc(x))
    SIMT_SMALL_FLOAT_MATH_FUNCTION(rint, __builtin_rint(x))
#undef SIMT_SMALL_FLOAT_MATH_FUNCTION

    /*
     * Defines the functions of a comparison. As in CUDA, every comparison with a NaN is false, even "not equal"; the
     * variant whose name ends in u is then true.
     */
#define SIMT_SMALL_FLOAT_COMPARISON_FUNCTIONS(name, condition) \
    friend SIMT_METHOD bool __h##name(self a, self b) { return condition; } \
    friend SIMT_METHOD bool __h##name##u(self a, self b) { return (condition) | a.is_nan() | b.is_nan(); }
    SIMT_SMALL_FLOAT_COMPARISON_FUNCTIONS(eq, a == b)
    SIMT_SMALL_FLOAT_COMPARISON_FUNCTIONS(ne, __builtin_islessgreater((float)a, (float)b))
    SIMT_SMALL_FLOAT_COMPARISON_FUNCTIONS(lt, a < b)
    SIMT_SMALL_FLOAT_COMPARISON_FUNCTIONS(le, a <= b)
    SIMT_SMALL_FLOAT_COMPARISON_FUNCTIONS(gt, a > b)
    SIMT_SMALL_FLOAT_COMPARISON_FUNCTIONS(ge, a >= b)
#undef SIMT_SMALL_FLOAT_COMPARISON_FUNCTIONS
    friend SIMT_METHOD bool __hisnan(self a) { return a.is_nan(); }
    friend SIMT_METHOD int __hisinf(self a)
    {
        return ((a.__x & 0x7fffu) == format::INFINITE) * (1 - 2 * (a.__x >> 15));
    }

    /* If one number is a NaN, return the other; if both are, return CUDA's canonical NaN. */
    friend SIMT_METHOD self __hmax(self a, self b)
    {
        const uint32_t number = select_bits(a.ordered_bits(0) >= b.ordered_bits(0), a.__x, b.__x);
        return from_bits(select_bits(a.is_nan() & b.is_nan(), 0x7fffu, number));
    }
    friend SIMT_METHOD self __hmin(self a, self b)
    {
        const uint32_t number = select_bits(a.ordered_bits(0x10000u) <= b.ordered_bits(0x10000u), a.__x, b.__x);
        return from_bits(select_bits(a.is_nan() & b.is_nan(), 0x7fffu, number));
    }
    /* Return CUDA's canonical NaN if either number is a NaN. */
    friend SIMT_METHOD self __hmax_nan(self a, self b)
    {
        return from_bits(select_bits(a.is_nan() | b.is_nan(), 0x7fffu, __hmax(a, b).__x));
    }
    friend SIMT_METHOD self __hmin_nan(self a, self b)
    {
        return from_bits(select_bits(a.is_nan() | b.is_nan(), 0x7fffu, __hmin(a, b).__x));
    }
};

/*
 * --- two numbers ----------------------------------------------------------------------------------------------------
 */

/** A pair of 16-bit numbers, which is copied by a single 4-byte access. */
template <typename format>
struct __attribute__((aligned(4))) simt_small_float2 {
    typedef simt_small_float2 self;
    typedef simt_small_float<format> number;

    number x, y;

    simt_small_float2() = default;
    SIMT_METHOD simt_small_float2(number first, number second) : x(first), y(second) {}
    SIMT_METHOD simt_small_float2(const self &other) { simt_copy_in_widest_accesses(this, &other); }
    SIMT_METHOD self &operator=(const self &other)
    {
        simt_copy_in_widest_accesses(this, &other);
        return *this;
    }

    friend SIMT_METHOD self operator+(self a, self b) { return self(a.x + b.x, a.y + b.y); }
    friend SIMT_METHOD self operator-(self a, self b) { return self(a.x - b.x, a.y - b.y); }
    friend SIMT_METHOD self operator*(self a, self b) { return self(a.x * b.x, a.y * b.y); }
    friend SIMT_METHOD self operator/(self a, self b) { return self(a.x / b.x, a.y / b.y); }

    friend SIMT_METHOD self operator+(self a) { return a; }
    friend SIMT_METHOD self operator-(self a) { return self(-a.x, -a.y); }
    friend SIMT_METHOD self &operator+=(self &a, self b) { return a = a + b; }
    friend SIMT_METHOD self &operator-=(self &a, self b) { return a = a - b; }
    friend SIMT_METHOD self &operator*=(self &a, self b) { return a = a * b; }
    friend SIMT_METHOD self &operator/=(self &a, self b) { return a = a / b; }
    friend SIMT_METHOD self &operator++(self &a) { return a = a + self(1, 1); }
    friend SIMT_METHOD self &operator--(self &a) { return a = a - self(1, 1); }

/* Defines a function on pairs: `name` is its name in CUDA, and `scalar` is the function on a single number. */
#define SIMT_PAIR_UNARY_FUNCTION(name, scalar) \
    friend SIMT_METHOD self name(self a) { return self(scalar(a.x), scalar(a.y)); }
#define SIMT_PAIR_BINARY_FUNCTION(name, scalar) \
    friend SIMT_METHOD self name(self a, self b) { return self(scalar(a.x, b.x), scalar(a.y, b.y)); }
#define SIMT_PAIR_TERNARY_FUNCTION(name, scalar) \
    friend SIMT_METHOD self name(self a, self b, self c) { return self(scalar(a.x, b.x, c.x), scalar(a.y, b.y, c.y)); }
#define SIMT_PAIR_COMPARISONS(name) \
    friend SIMT_METHOD self __h##name##2(self a, self b) \
    { \
        return self((int)__h##name(a.x, b.x), (int)__h##name(a.y, b.y)); \
    } \
    friend SIMT_METHOD bool __hb##name##2(self a, self b) \
    { \
        return (int)__h##name(a.x, b.x) & (int)__h##name(a.y, b.y); \
    } \
    friend SIMT_METHOD unsigned __h##name##2_mask(self a, self b) \
    { \
        return (0u - __h##name(a.x, b.x)) >> 16 | (0u - __h##name(a.y, b.y)) << 16; \
    }
    SIMT_PAIR_UNARY_FUNCTION(__hneg2, __hneg)
    SIMT_PAIR_UNARY_FUNCTION(__habs2, __habs)
    SIMT_PAIR_UNARY_FUNCTION(h2sqrt, hsqrt)
    SIMT_PAIR_UNARY_FUNCTION(h2rsqrt, hrsqrt)
    SIMT_PAIR_UNARY_FUNCTION(h2rcp, hrcp)
    SIMT_PAIR_UNARY_FUNCTION(h2exp, hexp)
    SIMT_PAIR_UNARY_FUNCTION(h2exp2, hexp2)
    SIMT_PAIR_UNARY_FUNCTION(h2exp10, hexp10)
    SIMT_PAIR_UNARY_FUNCTION(h2log, hlog)
    SIMT_PAIR_UNARY_FUNCTION(h2log2, hlog2)
    SIMT_PAIR_UNARY_FUNCTION(h2log10, hlog10)
    SIMT_PAIR_UNARY_FUNCTION(h2sin, hsin)
    SIMT_PAIR_UNARY_FUNCTION(h2cos, hcos)
    SIMT_PAIR_UNARY_FUNCTION(h2tanh, htanh)
    SIMT_PAIR_UNARY_FUNCTION(h2floor, hfloor)
    SIMT_PAIR_UNARY_FUNCTION(h2ceil, hceil)
    SIMT_PAIR_UNARY_FUNCTION(h2trunc, htrunc)
    SIMT_PAIR_UNARY_FUNCTION(h2rint, hrint)
    SIMT_PAIR_BINARY_FUNCTION(__hadd2, __hadd)
    SIMT_PAIR_BINARY_FUNCTION(__hsub2, __hsub)
    SIMT_PAIR_BINARY_FUNCTION(__hmul2, __hmul)
    SIMT_PAIR_BINARY_FUNCTION(__h2div, __hdiv)
    SIMT_PAIR_BINARY_FUNCTION(__hadd2_rn, __hadd)
    SIMT_PAIR_BINARY_FUNCTION(__hsub2_rn, __hsub)
    SIMT_PAIR_BINARY_FUNCTION(__hmul2_rn, __hmul)
    SIMT_PAIR_BINARY_FUNCTION(__hadd2_sat, __hadd_sat)
    SIMT_PAIR_BINARY_FUNCTION(__hsub2_sat, __hsub_sat)
    SIMT_PAIR_BINARY_FUNCTION(__hmul2_sat, __hmul_sat)
    SIMT_PAIR_BINARY_FUNCTION(__hmax2, __hmax)
    SIMT_PAIR_BINARY_FUNCTION(__hmin2, __hmin)
    SIMT_PAIR_BINARY_FUNCTION(__hmax2_nan, __hmax_nan)
    SIMT_PAIR_BINARY_FUNCTION(__hmin2_nan, __hmin_nan)
    SIMT_PAIR_TERNARY_FUNCTION(__hfma2, __hfma)
    SIMT_PAIR_TERNARY_FUNCTION(__hfma2_sat, __hfma_sat)
    SIMT_PAIR_TERNARY_FUNCTION(__hfma2_relu, __hfma_relu)
    SIMT_PAIR_COMPARISONS(eq)
    SIMT_PAIR_COMPARISONS(ne)
    SIMT_PAIR_COMPARISONS(lt)
    SIMT_PAIR_COMPARISONS(le)
    SIMT_PAIR_COMPARISONS(gt)
    SIMT_PAIR_COMPARISONS(ge)
    SIMT_PAIR_COMPARISONS(equ)
    SIMT_PAIR_COMPARISONS(neu)
    SIMT_PAIR_COMPARISONS(ltu)
    SIMT_PAIR_COMPARISONS(leu)
    SIMT_PAIR_COMPARISONS(gtu)
    SIMT_PAIR_COMPARISONS(geu)
#undef SIMT_PAIR_UNARY_FUNCTION
#undef SIMT_PAIR_BINARY_FUNCTION
#undef SIMT_PAIR_TERNARY_FUNCTION
#undef SIMT_PAIR_COMPARISONS
    friend SIMT_METHOD self __hisnan2(self a) { return self((int)a.x.is_nan(), (int)a.y.is_nan()); }
    friend SIMT_METHOD bool operator==(self a, self b) { return __hbeq2(a, b); }
    friend SIMT_METHOD bool operator!=(self a, self b) { return __hbneu2(a, b); }
    friend SIMT_METHOD bool operator<(self a, self b) { return __hblt2(a, b); }
    friend SIMT_METHOD bool operator<=(self a, self b) { return __hble2(a, b); }
    friend SIMT_METHOD bool operator>(self a, self b) { return __hbgt2(a, b); }
    friend SIMT_METHOD bool operator>=(self a, self b) { return __hbge2(a, b); }
    friend SIMT_METHOD self __lowhigh2highlow(self a) { return self(a.y, a.x); }
    friend SIMT_METHOD float __low2float(self a) { return a.x; }
    friend SIMT_METHOD float __high2float(self a) { return a.y; }
};

/*
 * --- names ----------------------------------------------------------------------------------------------------------
 */

/** Defines the conversions of `type` in one rounding mode; CUDA's function names refer to the type as `name`. */
#define SIMT_SMALL_FLOAT_ROUNDED_CONVERSIONS(name, type, suffix, mode, round) \
    SIMT_INLINE type __float2##name##_##suffix(float value) { return type::rounded<mode>(value); } \
    SIMT_SMALL_FLOAT_INTEGER_CONVERSIONS(name, type, int, int, suffix, mode, round) \
    SIMT_SMALL_FLOAT_INTEGER_CONVERSIONS(name, type, uint, unsigned, suffix, mode, round) \
    SIMT_SMALL_FLOAT_INTEGER_CONVERSIONS(name, type, short, short, suffix, mode, round) \
    SIMT_SMALL_FLOAT_INTEGER_CONVERSIONS(name, type, ushort, unsigned short, suffix, mode, round) \
    SIMT_SMALL_FLOAT_INTEGER_CONVERSIONS(name, type, ll, long long, suffix, mode, round) \
    SIMT_SMALL_FLOAT_INTEGER_CONVERSIONS(name, type, ull, unsigned long long, suffix, mode, round)
#define SIMT_SMALL_FLOAT_INTEGER_CONVERSIONS(name, type, integer_name, integer, suffix, mode, round) \
    SIMT_INLINE type __##integer_name##2##name##_##suffix(integer value) \
    { \
        return type::rounded<mode>(simt_integer_rounded_to_odd(value)); \
    } \
    SIMT_INLINE integer __##name##2##integer_name##_##suffix(type value) \
    { \
        return simt_to_integer<integer>(__builtin_##round((float)value), \
                                        (integer)(sizeof(integer) == 8 ? 1ull << 63 : 0)); \
    }

/**
 * Defines the conversions of `type` and the functions that make and split a `pair`; CUDA's function names refer to
 * these types as `name` and `pair_name`.
 */
#define SIMT_SMALL_FLOAT_CONVERSIONS_AND_PAIRS(name, type, pair_name, pair) \
    SIMT_SMALL_FLOAT_ROUNDED_CONVERSIONS(name, type, rn, SIMT_ROUND_NEAREST, rint) \
    SIMT_SMALL_FLOAT_ROUNDED_CONVERSIONS(name, type, rz, SIMT_ROUND_TO_ZERO, trunc) \
    SIMT_SMALL_FLOAT_ROUNDED_CONVERSIONS(name, type, rd, SIMT_ROUND_DOWN, floor) \
    SIMT_SMALL_FLOAT_ROUNDED_CONVERSIONS(name, type, ru, SIMT_ROUND_UP, ceil) \
    SIMT_INLINE float __##name##2float(type value) { return value; } \
    SIMT_INLINE type __float2##name(float value) { return value; } \
    SIMT_INLINE type __double2##name(double value) { return value; } \
    SIMT_INLINE signed char __##name##2char_rz(type value) \
    { \
        return simt_to_integer<signed char>(__builtin_trunc((float)value), 0); \
    } \
    SIMT_INLINE unsigned char __##name##2uchar_rz(type value) \
    { \
        return simt_to_integer<unsigned char>(__builtin_trunc((float)value), 0); \
    } \
    SIMT_INLINE unsigned short __##name##_as_ushort(type value) { return value.__x; } \
    SIMT_INLINE short __##name##_as_short(type value) { return (short)value.__x; } \
    SIMT_INLINE type __ushort_as_##name(unsigned short bits) { return type::from_bits(bits); } \
    SIMT_INLINE type __short_as_##name(short bits) { return type::from_bits((unsigned short)bits); } \
    SIMT_INLINE float2 __##pair_name##2float2(pair two) { return make_float2(two.x, two.y); } \
    SIMT_INLINE pair __float22##pair_name##_rn(float2 two) { return pair(two.x, two.y); } \
    SIMT_INLINE pair __floats2##pair_name##_rn(float x, float y) { return pair(x, y); } \
    SIMT_INLINE pair __float2##pair_name##_rn(float value) { return pair(value, value); } \
    SIMT_INLINE pair __##name##2##pair_name(type value) { return pair(value, value); } \
    SIMT_INLINE pair __halves2##pair_name(type x, type y) { return pair(x, y); } \
    SIMT_INLINE pair make_##pair_name(type x, type y) { return pair(x, y); } \
    SIMT_INLINE type __low2##name(pair two) { return two.x; } \
    SIMT_INLINE type __high2##name(pair two) { return two.y; } \
    SIMT_INLINE pair __low2##pair_name(pair two) { return pair(two.x, two.x); } \
    SIMT_INLINE pair __high2##pair_name(pair two) { return pair(two.y, two.y); } \
    SIMT_INLINE pair __lows2##pair_name(pair a, pair b) { return pair(a.x, b.x); } \
    SIMT_INLINE pair __highs2##pair_name(pair a, pair b) { return pair(a.y, b.y); }

// clang-format on

#endif

#endif
