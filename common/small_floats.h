/**
 * @file small_floats.h
 * @brief Conversions between float and the bits of binary16 ("half") or bfloat16.
 *
 * Narrowing rounds to nearest, ties to even, and overflows to infinity. Widening is exact. Subnormals are preserved. A
 * NaN becomes quiet but keeps its sign and the leading bits of its payload.
 *
 * There are no branches: masks select values, so a kernel that uses these conversions has no additional basic blocks in
 * the simulator.
 */
#ifndef SMALL_FLOATS_H
#define SMALL_FLOATS_H

#include <stdint.h>
#include <string.h>

#define SMALL_FLOAT_FUNCTION static inline __attribute__((always_inline))

/** Returns the bits of an IEEE binary32 value. */
SMALL_FLOAT_FUNCTION uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/** Returns the IEEE binary32 value that has these bits. */
SMALL_FLOAT_FUNCTION float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/** Returns `yes` if `condition` is 1, `no` if it is 0. */
SMALL_FLOAT_FUNCTION uint32_t select_bits(uint32_t condition, uint32_t yes, uint32_t no)
{
    return no ^ ((yes ^ no) & (0u - condition));
}

/**
 * Rounds `value` to odd: truncates it to a float, and sets the last bit unless the truncation is exact. Rounding the
 * result to a type with at least two fewer significand bits then gives the same number as rounding `value` directly.
 */
SMALL_FLOAT_FUNCTION float double_to_float_round_to_odd(double value)
{
    const float nearest = (float)value;
    const double size = __builtin_fabs(value), nearest_size = __builtin_fabs((double)nearest);

    return float_from_bits((float_bits(nearest) - (nearest_size > size)) | (nearest_size != size));
}

SMALL_FLOAT_FUNCTION float half_bits_to_float(uint16_t half)
{
    const uint32_t magnitude = half & 0x7fffu;
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;

    /* The shift moves the fields into position, but the exponent is then too small by 112. Multiplying by 2^112, which
     * is exact, corrects this, even for subnormals. Infinities and NaNs get exponent 143, which `special` sets to
     * 255. */
    const uint32_t finite = float_bits(float_from_bits(magnitude << 13) * 0x1p112f);
    const uint32_t special = (0u - (magnitude >= 0x7c00u)) & 0x7f800000u;
    const uint32_t quiet = (uint32_t)(magnitude > 0x7c00u) << 22;
    return float_from_bits(sign | finite | special | quiet);
}

SMALL_FLOAT_FUNCTION uint16_t float_to_half_bits(float value)
{
    const uint32_t bits = float_bits(value);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;

    /*
     * Adds half an ulp minus one, plus the bit that becomes the last bit of the result, so that a tie is rounded up
     * only if this bit is 1.
     */
    const uint32_t normal = ((magnitude + 0xfffu + (magnitude >> 13 & 1u)) >> 13) - (112u << 10);
    /* Near 0.5, the last bit of a float is 2^-24, like that of a subnormal half, so the addition rounds correctly. */
    const uint32_t subnormal = float_bits(float_from_bits(select_bits(magnitude < 0x38800000u, magnitude, 0)) + 0.5f) -
                               0x3f000000u;
    const uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ffu);

    uint32_t half = select_bits(magnitude < 0x38800000u, subnormal, normal);
    half = select_bits(magnitude >= 0x477ff000u, 0x7c00u, half); /* 65520 and above round to 65536: infinity */
    half = select_bits(magnitude > 0x7f800000u, nan, half);
    return (uint16_t)(sign | half);
}

SMALL_FLOAT_FUNCTION float bfloat16_bits_to_float(uint16_t bfloat16)
{
    const uint32_t quiet = (uint32_t)((bfloat16 & 0x7fffu) > 0x7f80u) << 22;
    return float_from_bits((uint32_t)bfloat16 << 16 | quiet);
}

SMALL_FLOAT_FUNCTION uint16_t float_to_bfloat16_bits(float value)
{
    const uint32_t bits = float_bits(value);
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const uint32_t nan = bits >> 16 | 0x40u;
    return (uint16_t)select_bits((bits & 0x7fffffffu) > 0x7f800000u, nan, rounded);
}

#endif
