/** @file core/dtype.h  The types of array elements: names, sizes and, for float types, rounding, loads and stores. */
#ifndef DTYPE_H
#define DTYPE_H

#include "small_floats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The types. The floating-point types come first; options named "dtype" accept only these types. DTYPE_U8 is for
 * workspaces.
 */
enum dtype { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_I32, DTYPE_I64, DTYPE_U8, NUM_DTYPES };

/** Returns the size of an element in bytes. */
static inline size_t dtype_size(enum dtype dtype)
{
    return dtype == DTYPE_I64 ? 8 : dtype == DTYPE_U8 ? 1 : dtype == DTYPE_F32 || dtype == DTYPE_I32 ? 4 : 2;
}

/** Returns the type's name: "f32", "f16", "bf16", ... */
static inline const char *dtype_name(enum dtype dtype)
{
    static const char *const names[NUM_DTYPES] = {"f32", "f16", "bf16", "i32", "i64", "u8"};

    return names[dtype];
}

/** Returns `value` rounded to the nearest value of the type, with ties to even. */
static inline float dtype_round(enum dtype dtype, float value)
{
    switch (dtype) {
    case DTYPE_F16:
        return half_bits_to_float(float_to_half_bits(value));
    case DTYPE_BF16:
        return bfloat16_bits_to_float(float_to_bfloat16_bits(value));
    default:
        return value;
    }
}

/** Returns element `index` of an array of the type as a float. */
static inline float dtype_load(enum dtype dtype, const void *array, size_t index)
{
    switch (dtype) {
    case DTYPE_F16:
        return half_bits_to_float(((const uint16_t *)array)[index]);
    case DTYPE_BF16:
        return bfloat16_bits_to_float(((const uint16_t *)array)[index]);
    default:
        return ((const float *)array)[index];
    }
}

/** Rounds `value` to the type and stores it as element `index`. */
static inline void dtype_store(enum dtype dtype, void *array, size_t index, float value)
{
    switch (dtype) {
    case DTYPE_F16:
        ((uint16_t *)array)[index] = float_to_half_bits(value);
        break;
    case DTYPE_BF16:
        ((uint16_t *)array)[index] = float_to_bfloat16_bits(value);
        break;
    default:
        ((float *)array)[index] = value;
    }
}

/** Returns the bits of element `index`, zero-extended. Equal bits mean the same value, even for NaN. */
static inline uint32_t dtype_bits(enum dtype dtype, const void *array, size_t index)
{
    return dtype == DTYPE_F32 ? ((const uint32_t *)array)[index] : ((const uint16_t *)array)[index];
}

#ifdef __cplusplus
}
#endif

#endif
