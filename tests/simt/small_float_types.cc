// What CUDA's 16-bit types do, as one line of digests per function: the same for CUDA's own headers and for the simulator's.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <initializer_list>
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
        add((bits & 0x7fff) > infinity ? 0x7fff : bits); // which NaN is not compared
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

/** Numbers on, just below and just above every value and every midpoint of the type. */
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

static void pairs(void)
{
    const __half2 h = __floats2half2_rn(1.5f, -2.25f), g = __float22half2_rn(__half22float2(h));
    const __nv_bfloat162 b = __floats2bfloat162_rn(1.5f, -2.25f), c = __float22bfloat162_rn(__bfloat1622float2(b));

    printf("pairs %x %x %g %g %zu", __half_as_ushort(__low2half(g)), __half_as_ushort(__high2half(h)), __low2float(h),
           __high2float(__hadd2(h, g)), alignof(__half2));
    printf(" %x %x %g %g %zu\n", __bfloat16_as_ushort(__low2bfloat16(c)), __bfloat16_as_ushort(__high2bfloat16(b)),
           __low2float(b), __high2float(__hmul2(b, c)), alignof(__nv_bfloat162));
}

int main()
{
    auto half_bits = [](__half x) { return __half_as_ushort(x); };
    auto bfloat16_bits = [](__nv_bfloat16 x) { return __bfloat16_as_ushort(x); };
    auto half_from = [](uint16_t bits) { return __ushort_as_half(bits); };
    auto bfloat16_from = [](uint16_t bits) { return __ushort_as_bfloat16(bits); };

    narrow<__half>("half", 0x7c00, half_bits, [](uint16_t bits) { return __half2float(__ushort_as_half(bits)); });
    narrow<__nv_bfloat16>("bfloat16", 0x7f80, bfloat16_bits,
                          [](uint16_t bits) { return __bfloat162float(__ushort_as_bfloat16(bits)); });
    arithmetic<__half>("half", 0x7c00, half_bits, half_from);
    arithmetic<__nv_bfloat16>("bfloat16", 0x7f80, bfloat16_bits, bfloat16_from);
    pairs();
}
