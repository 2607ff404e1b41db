/**
 * @file small_float_type.h
 * @brief The 16-bit number types of CUDA, and pairs of them, given how their bits convert: for cuda_fp16.h and cuda_bf16.h.
 *
 * Arithmetic is float's, rounded once more. Float has more than twice the digits, so sums, differences, products and
 * quotients come out as if rounded once. No function has a branch, and all are inlined.
 */
#ifndef SIMT_SMALL_FLOAT_TYPE_H
#define SIMT_SMALL_FLOAT_TYPE_H

#include "small_floats.h"
#include "vector_types.h"

#ifdef __cplusplus

// clang-format off

/** A number of 16 bits. `format` has to_float(bits), from_float(value) and INFINITE, the bits of infinity. */
template <typename format>
struct simt_small_float {
    typedef simt_small_float self;

    uint16_t __x;

    simt_small_float() = default;
    SIMT_METHOD simt_small_float(float value) : __x(format::from_float(value)) {}
    SIMT_METHOD simt_small_float(double value) : __x(format::from_float(double_to_float_odd(value))) {}
    SIMT_METHOD simt_small_float(int value) : simt_small_float((double)value) {}
    SIMT_METHOD simt_small_float(unsigned int value) : simt_small_float((double)value) {}
    SIMT_METHOD operator float() const { return format::to_float(__x); }

    static SIMT_METHOD self from_bits(uint32_t bits)
    {
        self value;
        value.__x = (uint16_t)bits;
        return value;
    }

    SIMT_METHOD uint32_t is_nan() const { return (__x & 0x7fffu) > format::INFINITE; }

    /** An unsigned number that grows with the value, -0 below +0; `nan` for a NaN. */
    SIMT_METHOD uint32_t order(uint32_t nan) const
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
    friend SIMT_METHOD bool operator==(self a, self b) { return (float)a == (float)b; }
    friend SIMT_METHOD bool operator!=(self a, self b) { return (float)a != (float)b; }
    friend SIMT_METHOD bool operator<(self a, self b) { return (float)a < (float)b; }
    friend SIMT_METHOD bool operator<=(self a, self b) { return (float)a <= (float)b; }
    friend SIMT_METHOD bool operator>(self a, self b) { return (float)a > (float)b; }
    friend SIMT_METHOD bool operator>=(self a, self b) { return (float)a >= (float)b; }

    friend SIMT_METHOD self __hadd(self a, self b) { return a + b; }
    friend SIMT_METHOD self __hsub(self a, self b) { return a - b; }
    friend SIMT_METHOD self __hmul(self a, self b) { return a * b; }
    friend SIMT_METHOD self __hdiv(self a, self b) { return a / b; }
    friend SIMT_METHOD self __hneg(self a) { return -a; }
    friend SIMT_METHOD self __habs(self a) { return from_bits(a.__x & 0x7fffu); }

    /* As in CUDA, a comparison with a NaN is false, "not equal" too. */
    friend SIMT_METHOD bool __heq(self a, self b) { return a == b; }
    friend SIMT_METHOD bool __hne(self a, self b) { return __builtin_islessgreater((float)a, (float)b); }
    friend SIMT_METHOD bool __hlt(self a, self b) { return a < b; }
    friend SIMT_METHOD bool __hle(self a, self b) { return a <= b; }
    friend SIMT_METHOD bool __hgt(self a, self b) { return a > b; }
    friend SIMT_METHOD bool __hge(self a, self b) { return a >= b; }
    friend SIMT_METHOD bool __hisnan(self a) { return a.is_nan(); }
    friend SIMT_METHOD int __hisinf(self a)
    {
        return ((a.__x & 0x7fffu) == format::INFINITE) * (1 - 2 * (a.__x >> 15));
    }

    /* The number where the other is a NaN; CUDA's NaN where both are. */
    friend SIMT_METHOD self __hmax(self a, self b)
    {
        const uint32_t number = select_bits(a.order(0) >= b.order(0), a.__x, b.__x);
        return from_bits(select_bits(a.is_nan() & b.is_nan(), 0x7fffu, number));
    }
    friend SIMT_METHOD self __hmin(self a, self b)
    {
        const uint32_t number = select_bits(a.order(0x10000u) <= b.order(0x10000u), a.__x, b.__x);
        return from_bits(select_bits(a.is_nan() & b.is_nan(), 0x7fffu, number));
    }
};

/** Two of them in one 4-byte access. */
template <typename format>
struct __attribute__((aligned(4))) simt_small_float2 {
    typedef simt_small_float2 self;
    typedef simt_small_float<format> number;

    number x, y;

    simt_small_float2() = default;
    SIMT_METHOD simt_small_float2(number first, number second) : x(first), y(second) {}
    SIMT_METHOD simt_small_float2(const self &other) { simt_copy(this, &other); }
    SIMT_METHOD self &operator=(const self &other)
    {
        simt_copy(this, &other);
        return *this;
    }

    friend SIMT_METHOD self operator+(self a, self b) { return self(a.x + b.x, a.y + b.y); }
    friend SIMT_METHOD self operator-(self a, self b) { return self(a.x - b.x, a.y - b.y); }
    friend SIMT_METHOD self operator*(self a, self b) { return self(a.x * b.x, a.y * b.y); }
    friend SIMT_METHOD self operator/(self a, self b) { return self(a.x / b.x, a.y / b.y); }

    friend SIMT_METHOD self __hadd2(self a, self b) { return a + b; }
    friend SIMT_METHOD self __hsub2(self a, self b) { return a - b; }
    friend SIMT_METHOD self __hmul2(self a, self b) { return a * b; }
    friend SIMT_METHOD self __h2div(self a, self b) { return a / b; }
    friend SIMT_METHOD self __hmax2(self a, self b) { return self(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
    friend SIMT_METHOD self __hmin2(self a, self b) { return self(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
    friend SIMT_METHOD float __low2float(self a) { return a.x; }
    friend SIMT_METHOD float __high2float(self a) { return a.y; }
};

// clang-format on

#endif

#endif
