/**
 * @file float_extrema.c
 * @brief fminf, fmaxf, fmin and fmax as a GPU computes them, in place of the C library's.
 *
 * For +0 and -0 the C library may return either operand, so the result would depend on the compiler. A GPU treats -0 as
 * the smaller value (PTX ISA, `min` and `max`). The linker finds these definitions before the C library's.
 */
#include <math.h>

#define DEFINE_EXTREMA(type, minimum, maximum) \
    type minimum(type x, type y)               \
    {                                          \
        if (x == y)                            \
            return signbit(x) ? x : y;         \
        return x < y || isnan(y) ? x : y;      \
    }                                          \
    type maximum(type x, type y)               \
    {                                          \
        if (x == y)                            \
            return signbit(x) ? y : x;         \
        return x > y || isnan(y) ? x : y;      \
    }

DEFINE_EXTREMA(float, fminf, fmaxf)
DEFINE_EXTREMA(double, fmin, fmax)
