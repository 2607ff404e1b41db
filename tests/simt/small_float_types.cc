// Prints digests of the results of CUDA's 16-bit types, one line per group of functions. The simulator's headers must
// give the same lines as CUDA's.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <initializer_list>
#include <vector>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct digest {
    uint64_t value = 0xcbf29ce484222325u;

    void add(uint32_t bits)
    {
        value = (value ^ bits) * 0x100000001b3u;
    }
    void add_number(uint16_t bits, uint16_t infinity)
    {
        add((bits & 0x7fff) > infinity ? 0x7fff : bits); // all NaNs are equal here
    }
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 32;
}

static double double_from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/** Converts numbers at, just below and just above every value of the type and every midpoint of two values. */
template <class number, class as_bits, class widen>
static void narrow(const char *name, uint16_t infinity, as_bits bits_of, widen float_of)
{
    digest from_double, from_float, from_int;

    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const double value = float_of((uint16_t)bits),
                     next = float_of((uint16_t)((bits & 0x7fff) == infinity ? bits : bits + 1));
        const double places[] = {value, (value + next) / 2};
        for (double place : places)
            for (double step : {-1e-11, -1e-15, 0.0, 1e-15, 1e-11}) {
                from_double.add_number(bits_of(number(place + place * step)), infinity);
                from_float.add_number(bits_of(number((float)(place + place * step))), infinity);
            }
    }
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        const double value = double_from_bits((next_random(&state) << 32) | next_random(&state));
        from_double.add_number(bits_of(number(value)), infinity);
        from_int.add_number(bits_of(number((int)((uint32_t)next_random(&state) >> (i & 31)))), infinity);
    }
    printf("%s double %016lx float %016lx int %016lx\n", name, (unsigned long)from_double.value,
           (unsigned long)from_float.value, (unsigned long)from_int.value);
}

template <class number, class as_bits, class from_bits>
static void arithmetic(const char *name, uint16_t infinity, as_bits bits_of, from_bits number_of)
{
    digest sums, products, order, extremes;
    uint64_t state = 2;

    for (int i = 0; i < 1000000; i++) {
        const uint16_t a_bits = (uint16_t)next_random(&state);
        const uint16_t b_bits = i & 7 ? (uint16_t)next_random(&state) : i & 8 ? a_bits : a_bits ^ 0x8000;
        number a = number_of(a_bits), b = number_of(b_bits), c = a;

        sums.add_number(bits_of(__hadd(a, b)), infinity);
        sums.add_number(bits_of(a - b), infinity);
        products.add_number(bits_of(__hmul(a, b)), infinity);
        products.add_number(bits_of(c /= b), infinity);
        order.add(__heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hle(a, b) << 3 | __hgt(a, b) << 4 |
                  __hge(a, b) << 5 | __hisnan(a) << 6 | (a == b) << 7 | (a != b) << 8 | (a < b) << 9 | (a >= b) << 10 |
                  (__hisinf(a) + 1) << 11);
        extremes.add_number(bits_of(__hmax(a, b)), infinity);
        extremes.add_number(bits_of(__hmin(a, b)), infinity);
        extremes.add_number(bits_of(__habs(-a)), infinity);
    }
    printf("%s sums %016lx products %016lx order %016lx extremes %016lx\n", name, (unsigned long)sums.value,
           (unsigned long)products.value, (unsigned long)order.value, (unsigned long)extremes.value);
}

/**
 * Prints digests of conversions in other rounding modes, where CUDA's headers provide them on the host, and of
 * functions that saturate or have special rules for NaN.
 */
template <class number, class as_bits, class from_bits, class all_from_float, class all_from_int, class all_to_int>
static void modes(const char *name, uint16_t infinity, as_bits bits_of, from_bits number_of, all_from_float from_float,
                  all_from_int from_int, all_to_int to_int)
{
    digest floats, integers, back, limited;
    uint64_t state = 3;

    for (int i = 0; i < 300000; i++) {
        const uint32_t random = (uint32_t)next_random(&state);
        const uint64_t wide = (next_random(&state) << 32 | next_random(&state)) >> (i & 63);
        const number a = number_of((uint16_t)random), b = number_of((uint16_t)(random >> 16));
        float value;

        memcpy(&value, &random, sizeof value);
        for (const number &rounded : from_float(value))
            floats.add_number(bits_of(rounded), infinity);
        for (const number &rounded : from_int(wide))
            integers.add_number(bits_of(rounded), infinity);
        for (const long long integer : to_int(a)) {
            back.add((uint32_t)integer);
            back.add((uint32_t)((uint64_t)integer >> 32));
        }
        limited.add(bits_of(__hadd_sat(a, b)));
        limited.add(bits_of(__hmul_sat(a, b)));
        limited.add_number(bits_of(__hmax_nan(a, b)), infinity);
        limited.add_number(bits_of(__hmin_nan(a, b)), infinity);
        limited.add(__hequ(a, b) | __hneu(a, b) << 1 | __hltu(a, b) << 2 | __hleu(a, b) << 3 | __hgtu(a, b) << 4 |
                    __hgeu(a, b) << 5);
    }
    printf("%s modes %016lx integers %016lx back %016lx limited %016lx\n", name, (unsigned long)floats.value,
           (unsigned long)integers.value, (unsigned long)back.value, (unsigned long)limited.value);
}

template <class pair, class number, class from_bits, class pair_of>
static void both(const char *name, uint16_t infinity, from_bits number_of, pair_of make)
{
    digest arithmetic, order;
    uint64_t state = 4;
    const auto add = [&](digest *sum, pair value) {
        uint16_t bits[2];

        memcpy(bits, &value, sizeof bits);
        sum->add_number(bits[0], infinity);
        sum->add_number(bits[1], infinity);
    };

    for (int i = 0; i < 300000; i++) {
        const uint32_t first = (uint32_t)next_random(&state), second = i & 3 ? (uint32_t)next_random(&state) : first;
        const pair a = make(number_of((uint16_t)first), number_of((uint16_t)(first >> 16))),
                   b = make(number_of((uint16_t)second), number_of((uint16_t)(second >> 16)));
        pair c = a;

        c += b;
        c *= a;
        for (const pair &value : {a + b, a - b, a * b, a / b, -a, c, __hneg2(a), __habs2(a), __hmax2(a, b),
                                  __hmin2(a, b), __hadd2_sat(a, b), __lowhigh2highlow(a)})
            add(&arithmetic, value);
        for (const pair &value : {__heq2(a, b), __hne2(a, b), __hlt2(a, b), __hgeu2(a, b), __hisnan2(a)})
            add(&order, value);
        order.add(__hbeq2(a, b) | __hbne2(a, b) << 1 | __hblt2(a, b) << 2 | __hbgeu2(a, b) << 3 | (a == b) << 4 |
                  (a != b) << 5 | (a < b) << 6 | (a >= b) << 7);
        order.add(__hgt2_mask(a, b));
        order.add(__hleu2_mask(a, b));
    }
    printf("%s pairs %016lx order %016lx\n", name, (unsigned long)arithmetic.value, (unsigned long)order.value);
}

#ifdef SIMT_SMALL_FLOAT_TYPE_H

/** Checks whether `got` is a x b + c rounded to nearest even; the 113 bits of a __float128 hold the exact value. */
template <class number>
static bool is_nearest(number got, number a, number b, number c, uint16_t infinity)
{
    const __float128 exact = (__float128)(float)a * (float)b + (float)c;
    const __float128 error = (float)got > exact ? (float)got - exact : exact - (float)got;

    for (int step = -1; step <= 1; step += 2) {
        const uint16_t bits = (uint16_t)(got.__x + step);

        if ((got.__x & 0x7fff) == 0 || (bits & 0x7fff) >= infinity)
            continue;
        const __float128 other = (float)number::from_bits(bits);
        const __float128 its = other > exact ? other - exact : exact - other;

        if (its < error || (its == error && got.__x & 1))
            return false;
    }
    return true;
}

template <class number>
static void fused(const char *name, uint16_t infinity, int exponent_at)
{
    uint64_t state = 5;
    int wrong = 0, differs = 0;

    for (int i = 0; i < 2000000; i++) {
        number of[3];

        /* Exponents from -6 to 6, so that the last term often decides a near tie. */
        for (number &term : of) {
            const unsigned bits = (unsigned)next_random(&state);

            term = number::from_bits(((infinity >> exponent_at) / 2 - 6 + bits % 13) << exponent_at |
                                     (bits >> 8 & ((1u << exponent_at) - 1)) | (bits >> 16 & 0x8000));
        }
        const number got = __hfma(of[0], of[1], of[2]);

        wrong += !is_nearest(got, of[0], of[1], of[2], infinity);
        differs += got.__x != (of[0] * of[1] + of[2]).__x;
    }
    printf("%s fused: %d wrong, %s rounding twice\n", name, wrong, differs ? "not as when" : "as when");
}

#endif

static void pairs(void)
{
    const __half2 h = __floats2half2_rn(1.5f, -2.25f), g = __float22half2_rn(__half22float2(h));
    const __nv_bfloat162 b = __floats2bfloat162_rn(1.5f, -2.25f), c = __float22bfloat162_rn(__bfloat1622float2(b));

    printf("pairs %x %x %g %g %zu", __half_as_ushort(__low2half(g)), __half_as_ushort(__high2half(h)), __low2float(h),
           __high2float(__hadd2(h, g)), alignof(__half2));
    printf(" %x %x %g %g %zu\n", __bfloat16_as_ushort(__low2bfloat16(c)), __bfloat16_as_ushort(__high2bfloat16(b)),
           __low2float(b), __high2float(__hmul2(b, c)), alignof(__nv_bfloat162));
}

int main(int argc, char **)
{
    auto half_bits = [](__half x) { return __half_as_ushort(x); };
    auto bfloat16_bits = [](__nv_bfloat16 x) { return __bfloat16_as_ushort(x); };
    auto half_from = [](uint16_t bits) { return __ushort_as_half(bits); };
    auto bfloat16_from = [](uint16_t bits) { return __ushort_as_bfloat16(bits); };

#ifdef SIMT_SMALL_FLOAT_TYPE_H
    if (argc > 1) {
        fused<__half>("half", 0x7c00, 10);
        fused<__nv_bfloat16>("bfloat16", 0x7f80, 7);
        return 0;
    }
#endif
    (void)argc;
    narrow<__half>("half", 0x7c00, half_bits, [](uint16_t bits) { return __half2float(__ushort_as_half(bits)); });
    narrow<__nv_bfloat16>("bfloat16", 0x7f80, bfloat16_bits,
                          [](uint16_t bits) { return __bfloat162float(__ushort_as_bfloat16(bits)); });
    arithmetic<__half>("half", 0x7c00, half_bits, half_from);
    arithmetic<__nv_bfloat16>("bfloat16", 0x7f80, bfloat16_bits, bfloat16_from);
    modes<__half>(
        "half", 0x7c00, half_bits, half_from,
        [](float x) {
            return std::vector<__half>{__float2half_rd(x), __float2half_ru(x), __float2half_rz(x)};
        },
        [](uint64_t x) {
            return std::vector<__half>{__int2half_rd((int)x),       __int2half_ru((int)x),      __int2half_rz((int)x),
                                       __uint2half_ru((unsigned)x), __ll2half_rn((long long)x), __ull2half_rn(x),
                                       __short2half_rn((short)x)};
        },
        [](__half x) {
            return std::vector<long long>{__half2int_rz(x),    __half2uint_rz(x), __half2short_rz(x),
                                          __half2ushort_rz(x), __half2ll_rz(x),   (long long)__half2ull_rz(x),
                                          __half2char_rz(x),   __half2uchar_rz(x)};
        });
    modes<__nv_bfloat16>(
        "bfloat16", 0x7f80, bfloat16_bits, bfloat16_from,
        [](float x) {
            return std::vector<__nv_bfloat16>{__float2bfloat16_rd(x), __float2bfloat16_ru(x), __float2bfloat16_rz(x)};
        },
        [](uint64_t x) {
            return std::vector<__nv_bfloat16>{__int2bfloat16_rn((int)x), __uint2bfloat16_rn((unsigned)x),
                                              __ll2bfloat16_rn((long long)x), __ull2bfloat16_rn(x)};
        },
        [](__nv_bfloat16 x) {
            return std::vector<long long>{
                __bfloat162int_rz(x), __bfloat162uint_rz(x),           __bfloat162short_rz(x), __bfloat162ushort_rz(x),
                __bfloat162ll_rz(x),  (long long)__bfloat162ull_rz(x), __bfloat162char_rz(x),  __bfloat162uchar_rz(x)};
        });
    both<__half2, __half>("half", 0x7c00, half_from, [](__half x, __half y) { return __halves2half2(x, y); });
    both<__nv_bfloat162, __nv_bfloat16>("bfloat16", 0x7f80, bfloat16_from,
                                        [](__nv_bfloat16 x, __nv_bfloat16 y) { return __halves2bfloat162(x, y); });
    pairs();
}
