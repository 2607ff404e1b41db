/** @file test_small_floats.c  Tests half and bfloat16: every value, and rounding on both sides of every midpoint. */
#include "small_floats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/** The layout and the conversions of a format, half or bfloat16. */
struct format {
    int exponent_bits;
    int mantissa_bits;
    float (*widen)(uint16_t bits);
    uint16_t (*narrow)(float value);
};

static float widen_half(uint16_t bits)
{
    return half_bits_to_float(bits);
}

static uint16_t narrow_half(float value)
{
    return float_to_half_bits(value);
}

static float widen_bfloat16(uint16_t bits)
{
    return bfloat16_bits_to_float(bits);
}

static uint16_t narrow_bfloat16(float value)
{
    return float_to_bfloat16_bits(value);
}

static const struct format half = {5, 10, widen_half, narrow_half};
static const struct format bfloat16 = {8, 7, widen_bfloat16, narrow_bfloat16};

static uint32_t infinity_of(const struct format *format)
{
    return ((1u << format->exponent_bits) - 1) << format->mantissa_bits;
}

/**
 * Returns the value of bits without a sign, by the format's definition; infinity gets the next value after the largest
 * finite value.
 */
static double value_of(const struct format *format, uint32_t bits)
{
    const int exponent = (int)(bits >> format->mantissa_bits);
    const int mantissa = (int)(bits & ((1u << format->mantissa_bits) - 1));
    const int bias = (1 << (format->exponent_bits - 1)) - 1;

    if (exponent == 0)
        return ldexp(mantissa, 1 - bias - format->mantissa_bits);
    return ldexp(mantissa + (1 << format->mantissa_bits), exponent - bias - format->mantissa_bits);
}

static void widens_every_value(const struct format *format)
{
    const uint32_t infinity = infinity_of(format);

    for (uint32_t bits = 0; bits < 0x8000; bits++) {
        const float positive = format->widen((uint16_t)bits), negative = format->widen((uint16_t)(bits | 0x8000));

        assert_int_equal(float_bits(negative), float_bits(positive) | 0x80000000u);
        if (bits < infinity)
            assert_true((double)positive == value_of(format, bits));
        else if (bits == infinity)
            assert_int_equal(float_bits(positive), 0x7f800000);
        else
            assert_true((float_bits(positive) & 0x7fc00000) == 0x7fc00000);
    }
}

static void gives_every_value_back(const struct format *format)
{
    const uint32_t infinity = infinity_of(format), quiet = 1u << (format->mantissa_bits - 1);

    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const uint32_t expected = (bits & 0x7fff) > infinity ? bits | quiet : bits;

        assert_int_equal(format->narrow(format->widen((uint16_t)bits)), expected);
    }
}

/** Checks that `value` is rounded to `bits` and -value to `bits` with the sign bit set. */
static void expect_narrow(const struct format *format, float value, uint32_t bits)
{
    assert_int_equal(format->narrow(value), bits);
    assert_int_equal(format->narrow(-value), bits | 0x8000);
}

/** Tests rounding around the midpoint between any two neighbours, and between the largest value and infinity. */
static void rounds_to_nearest_even(const struct format *format)
{
    for (uint32_t bits = 0; bits < infinity_of(format); bits++) {
        const double below = value_of(format, bits), above = value_of(format, bits + 1);
        const float middle = (float)((below + above) / 2);

        assert_true((double)middle == (below + above) / 2);
        expect_narrow(format, (float)below, bits);
        expect_narrow(format, nextafterf(middle, 0), bits);
        expect_narrow(format, middle, bits + (bits & 1));
        expect_narrow(format, nextafterf(middle, INFINITY), bits + 1);
        if (bits > 0)
            expect_narrow(format, nextafterf((float)below, 0), bits);
        expect_narrow(format, nextafterf((float)below, INFINITY), bits);
    }
}

/** Tests rounding at every exponent of float, with mantissas whose low bits are below, at or above a midpoint. */
static void rounds_every_exponent(const struct format *format)
{
    static const uint32_t mantissas[] = {0,        1,        0x7fffff, 0x7fefff, 0x7ff000, 0x7ff001, 0x000fff,
                                         0x001000, 0x001001, 0x003000, 0x007fff, 0x008000, 0x008001, 0x018000,
                                         0x7f7fff, 0x7f8000, 0x7f8001, 0x400000, 0x3fffff, 0x555555, 0x2aaaaa};
    const uint32_t infinity = infinity_of(format);

    for (uint32_t exponent = 0; exponent < 255; exponent++) {
        for (size_t i = 0; i < sizeof mantissas / sizeof *mantissas; i++) {
            const float value = float_from_bits(exponent << 23 | mantissas[i]);
            const uint32_t bits = format->narrow(value);

            assert_in_range(bits, 0, infinity);
            if (bits < infinity) {
                const double above = value_of(format, bits + 1) - value, here = fabs(value_of(format, bits) - value);
                assert_true(here < above || (here == above && !(bits & 1)));
            }
            if (bits > 0) {
                const double below = value - value_of(format, bits - 1), here = fabs(value_of(format, bits) - value);
                assert_true(here < below || (here == below && !(bits & 1)));
            }
        }
    }
}

static void keeps_what_is_not_finite(const struct format *format)
{
    const uint32_t infinity = infinity_of(format), quiet = 1u << (format->mantissa_bits - 1);

    expect_narrow(format, 0.0f, 0);
    expect_narrow(format, INFINITY, infinity);
    expect_narrow(format, 0x1.fffffep127f, infinity);
    expect_narrow(format, float_from_bits(1), 0);
    for (uint32_t payload = 1; payload < 0x800000; payload += 1 + payload / 3) {
        const uint32_t sign = payload & 1 ? 0x8000 : 0;
        const uint32_t bits = format->narrow(float_from_bits(sign << 16 | 0x7f800000 | payload));

        assert_int_equal(bits, sign | infinity | quiet | payload >> (23 - format->mantissa_bits));
    }
}

/** Tests that rounding a double to odd in float and then to the format gives the result of a single rounding. */
static void rounds_doubles_once(const struct format *format)
{
    for (uint32_t bits = 0; bits < infinity_of(format); bits++) {
        const double middle = (value_of(format, bits) + value_of(format, bits + 1)) / 2;

        assert_int_equal(format->narrow(double_to_float_round_to_odd(nextafter(middle, 0))), bits);
        assert_int_equal(format->narrow(double_to_float_round_to_odd(middle)), bits + (bits & 1));
        assert_int_equal(format->narrow(double_to_float_round_to_odd(nextafter(middle, INFINITY))), bits + 1);
        assert_int_equal(format->narrow(double_to_float_round_to_odd(-nextafter(middle, 0))), bits | 0x8000);
    }
    assert_int_equal(format->narrow(double_to_float_round_to_odd(1e300)), infinity_of(format));
    assert_int_equal(format->narrow(double_to_float_round_to_odd(-1e-300)), 0x8000);
    assert_int_equal(float_bits(double_to_float_round_to_odd(-INFINITY)), 0xff800000);
    assert_true(isnan(double_to_float_round_to_odd(NAN)));
}

#define BOTH(check)                            \
    static void check##_half(void **state)     \
    {                                          \
        (void)state;                           \
        check(&half);                          \
    }                                          \
    static void check##_bfloat16(void **state) \
    {                                          \
        (void)state;                           \
        check(&bfloat16);                      \
    }

BOTH(widens_every_value)
BOTH(gives_every_value_back)
BOTH(rounds_to_nearest_even)
BOTH(rounds_every_exponent)
BOTH(keeps_what_is_not_finite)
BOTH(rounds_doubles_once)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widens_every_value_half),       cmocka_unit_test(widens_every_value_bfloat16),
        cmocka_unit_test(gives_every_value_back_half),   cmocka_unit_test(gives_every_value_back_bfloat16),
        cmocka_unit_test(rounds_to_nearest_even_half),   cmocka_unit_test(rounds_to_nearest_even_bfloat16),
        cmocka_unit_test(rounds_every_exponent_half),    cmocka_unit_test(rounds_every_exponent_bfloat16),
        cmocka_unit_test(keeps_what_is_not_finite_half), cmocka_unit_test(keeps_what_is_not_finite_bfloat16),
        cmocka_unit_test(rounds_doubles_once_half),      cmocka_unit_test(rounds_doubles_once_bfloat16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
