/**
 * @file simt_device.h
 * @brief CUDA's kernel language in C++: qualifiers, built-in variables, warp, block and atomic functions, arithmetic.
 *
 * Everything here is inlined into the kernel, so that a call's place in the source is the kernel's, and is written without
 * branches, which would be counted as the kernel's own.
 */
#ifndef SIMT_DEVICE_H
#define SIMT_DEVICE_H

#include <assert.h>
#include <cstring>

#include "device_calls.h"

/* --- qualifiers --------------------------------------------------------------------------------------------------- */

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
/* The rewriter puts one at the beginning of a kernel's body: a line, in a section of their own, of where it stands and how many
   threads a block may have. */
#define SIMT_LAUNCH_BOUNDS(...)                                                                          \
    __asm__ volatile(".pushsection simt_bounds,\"a?\"\n.long 1f - ., %c0\n.popsection\n1:" /* no code */ \
                     :                                                                                   \
                     : "i"(simt_threads_bound(__VA_ARGS__)));
constexpr int simt_threads_bound(unsigned threads, unsigned = 0, unsigned = 0)
{
    return (int)threads;
}
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __align__(n)    __attribute__((aligned(n)))
#ifdef __clang__
#define __shared__           static __thread
#define SIMT_SHARED_GAP_KEEP used
#define SIMT_SHARED_GAP_ORDER used, /* or it comes later than its gap */
#else
#define __shared__                                                                                           \
    static __constinit __thread /* or gcc guards an array of a class with constructors by a hidden branch */ \
        __attribute__((no_reorder))
#define SIMT_SHARED_GAP_KEEP  used, no_reorder
#define SIMT_SHARED_GAP_ORDER no_reorder,
#endif

/* The rewriter puts one behind each variable: what runs over the end of that meets this, and is seen. The size keeps every
   variable in the banks it would have without. */
#define SIMT_SHARED_GAP          SIMT_SHARED_GAP_(__COUNTER__)
#define SIMT_SHARED_GAP_(number) SIMT_SHARED_GAP_NAMED(number)
#define SIMT_SHARED_GAP_NAMED(number) \
    static __thread __attribute__((SIMT_SHARED_GAP_KEEP, aligned(1))) unsigned char simt_gap_##number[128];
#define __constant__ __attribute__((SIMT_SHARED_GAP_ORDER section("simt_constant")))

/* The same behind variables in global and in constant memory, which lie apart from the host's. */
#define SIMT_DEVICE_VARIABLE     __attribute__((SIMT_SHARED_GAP_ORDER section("simt_device")))
#define SIMT_DEVICE_GAP          SIMT_GAP_(__COUNTER__, "simt_device")
#define SIMT_CONSTANT_GAP        SIMT_GAP_(__COUNTER__, "simt_constant")
#define SIMT_GAP_(number, where) SIMT_GAP_NAMED(number, where)
#define SIMT_GAP_NAMED(number, where) \
    static __attribute__((SIMT_SHARED_GAP_KEEP, aligned(1), section(where))) unsigned char simt_gap_##number[128];
#ifndef __restrict__
#define __restrict__ __restrict
#endif

/* --- built-in variables ------------------------------------------------------------------------------------------- */

/** As uint3, but trivial, so that a constant of this type is one to the compiler. */
struct simt_index {
    unsigned x, y, z;
    operator uint3() const
    {
        return make_uint3(x, y, z);
    }
    operator dim3() const
    {
        return dim3(x, y, z);
    }
};

/* Constants to the thread that reads them: the engine sets them before a thread goes on. Reads are not instrumented. */
extern "C" {
extern const simt_index simt_thread_idx;
extern const simt_index simt_block_idx;
extern const simt_index simt_block_dim;
extern const simt_index simt_grid_dim;
}

extern "C" {
extern __thread unsigned char simt_dynamic_shared[]; /* whatever kernels call it */
}

#define threadIdx simt_thread_idx
#define blockIdx  simt_block_idx
#define blockDim  simt_block_dim
#define gridDim   simt_grid_dim
#define warpSize  32

/* --- what C++ leaves open and a GPU does not ------------------------------------------------------------------------ */

/* The rewriter's words for what it finds in functions of the device: a count of places to shift by, and a conversion to an integer. */
#define SIMT_CONSTEXPR constexpr inline __attribute__((always_inline))
#define SIMT_CUDA_ARCH 900

/* Of types that stay in registers: compilers do not take structures apart here. */
enum class simt_count_type {};
static constexpr simt_count_type simt_count = {};

#define SIMT_COUNTED_OPERATOR(counted, type, op)           \
    template <class T>                                     \
    SIMT_CONSTEXPR auto operator op(counted left, T right) \
    {                                                      \
        return simt_count * ((type)left op right);         \
    }
#define SIMT_COUNTED(counted, type)                                            \
    enum class counted : type {};                                              \
    SIMT_CONSTEXPR counted operator*(simt_count_type, type value)              \
    {                                                                          \
        return (counted)value;                                                 \
    }                                                                          \
    template <class T>                                                         \
    SIMT_CONSTEXPR auto operator<<(T left, counted count)->decltype(left << 1) \
    {                                                                          \
        return simt_shift_left<decltype(left << 1)>(left, (unsigned)count);    \
    }                                                                          \
    template <class T>                                                         \
    SIMT_CONSTEXPR auto operator>>(T left, counted count)->decltype(left >> 1) \
    {                                                                          \
        return simt_shift_right<decltype(left >> 1)>(left, (unsigned)count);   \
    }                                                                          \
    template <class T>                                                         \
    SIMT_CONSTEXPR T &operator<<=(T &left, counted count)                      \
    {                                                                          \
        return left = (T)(left << count);                                      \
    }                                                                          \
    template <class T>                                                         \
    SIMT_CONSTEXPR T &operator>>=(T &left, counted count)                      \
    {                                                                          \
        return left = (T)(left >> count);                                      \
    }

/* Without a branch: by all places and more a shift leaves nothing, or the sign. */
template <class T>
SIMT_CONSTEXPR T simt_shift_left(T value, unsigned places)
{
    constexpr unsigned bits = 8 * sizeof(T);

    return (T)((unsigned long long)value << (places & (bits - 1)) & (0 - (unsigned long long)(places < bits)));
}
template <class T>
SIMT_CONSTEXPR T simt_shift_right(T value, unsigned places)
{
    constexpr unsigned bits = 8 * sizeof(T);
    const unsigned all = 0 - (unsigned)(places >= bits);

    if constexpr ((T)-1 < (T)1)
        return value >> ((places | all) & (bits - 1));
    else
        return (value >> (places & (bits - 1))) & (T) ~(0 - (unsigned long long)(all & 1));
}

SIMT_COUNTED(simt_counted_int, int)
SIMT_COUNTED(simt_counted_unsigned, unsigned)
SIMT_COUNTED(simt_counted_long, long)
SIMT_COUNTED(simt_counted_unsigned_long, unsigned long)
SIMT_COUNTED(simt_counted_long_long, long long)
SIMT_COUNTED(simt_counted_unsigned_long_long, unsigned long long)
#define SIMT_COUNTED_ALL(op)                                             \
    SIMT_COUNTED_OPERATOR(simt_counted_int, int, op)                     \
    SIMT_COUNTED_OPERATOR(simt_counted_unsigned, unsigned, op)           \
    SIMT_COUNTED_OPERATOR(simt_counted_long, long, op)                   \
    SIMT_COUNTED_OPERATOR(simt_counted_unsigned_long, unsigned long, op) \
    SIMT_COUNTED_OPERATOR(simt_counted_long_long, long long, op)         \
    SIMT_COUNTED_OPERATOR(simt_counted_unsigned_long_long, unsigned long long, op)
SIMT_COUNTED_ALL(*)
SIMT_COUNTED_ALL(/)
SIMT_COUNTED_ALL(%)
SIMT_COUNTED_ALL(+)
SIMT_COUNTED_ALL(-)
#undef SIMT_COUNTED
#undef SIMT_COUNTED_OPERATOR
#undef SIMT_COUNTED_ALL

template <class T>
struct simt_to {
};
/* Out of range is the nearest integer that there is. */
template <class T>
constexpr bool simt_is_real = false;
template <>
constexpr bool simt_is_real<float> = true;
template <>
constexpr bool simt_is_real<double> = true;
template <class To, class From>
SIMT_CONSTEXPR To simt_cast(From value)
{
    if constexpr (simt_is_real<From>) {
        if (!__builtin_is_constant_evaluated()) {
            if constexpr ((To)-1 < (To)1)
                return (To)simt_to_signed(value, sizeof(To), sizeof(From));
            else
                return (To)simt_to_unsigned(value, sizeof(To), sizeof(From));
        }
    }
    return (To)value;
}
template <class To, class From>
SIMT_CONSTEXPR To operator->*(simt_to<To>, From value)
{
    return simt_cast<To>(value);
}

/* --- bits --------------------------------------------------------------------------------------------------------- */

#define SIMT_DEVICE static inline __attribute__((always_inline))

#ifndef __clang__ /* which has a warning for that */
/* Of the spellings of inline assembly, CUDA's own. */
#define asm \
    _Pragma("GCC error \"inline PTX is not supported by the simulator: put it under #ifdef __CUDA_ARCH__\"") __asm__
#endif

SIMT_DEVICE unsigned __float_as_uint(float value)
{
    return __builtin_bit_cast(unsigned, value);
}
SIMT_DEVICE int __float_as_int(float value)
{
    return __builtin_bit_cast(int, value);
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
SIMT_DEVICE int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
SIMT_DEVICE int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
/* A 1 below the lowest bit makes zero an ordinary case. */
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
SIMT_DEVICE unsigned simt_byte_of(unsigned x, unsigned y, unsigned selector)
{
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    const unsigned byte = (unsigned)(bytes >> 8 * (selector & 7)) & 0xff;
    const unsigned sign = 0xff & (0 - (byte >> 7));
    const unsigned spread = 0 - (selector >> 3 & 1);

    return (sign & spread) | (byte & ~spread);
}
SIMT_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    return simt_byte_of(x, y, selector) | simt_byte_of(x, y, selector >> 4) << 8 |
           simt_byte_of(x, y, selector >> 8) << 16 | simt_byte_of(x, y, selector >> 12) << 24;
}
SIMT_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
SIMT_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

/* --- arithmetic --------------------------------------------------------------------------------------------------- */

/* glibc declares functions of these names, so ours are macros. */
#define __expf(x)    expf(x)
#define __exp10f(x)  exp10f(x)
#define __logf(x)    logf(x)
#define __log2f(x)   log2f(x)
#define __log10f(x)  log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x)    sinf(x)
#define __cosf(x)    cosf(x)
#define __tanf(x)    tanf(x)

SIMT_DEVICE float __fdividef(float x, float y)
{
    return x / y;
}
SIMT_DEVICE float __fadd_rn(float x, float y)
{
    return x + y;
}
SIMT_DEVICE float __fsub_rn(float x, float y)
{
    return x - y;
}
SIMT_DEVICE float __fmul_rn(float x, float y)
{
    return x * y;
}
SIMT_DEVICE float __fdiv_rn(float x, float y)
{
    return x / y;
}
SIMT_DEVICE float __frcp_rn(float x)
{
    return 1.0f / x;
}
SIMT_DEVICE float __fsqrt_rn(float x)
{
    return sqrtf(x);
}
SIMT_DEVICE float __fmaf_rn(float x, float y, float z)
{
    return fmaf(x, y, z);
}
SIMT_DEVICE float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}
SIMT_DEVICE float __saturatef(float x)
{
    return fminf(fmaxf(x, 0.0f), 1.0f);
}
#define SIMT_FLOAT_TO_INTEGERS(suffix, round)           \
    SIMT_DEVICE int __float2int_##suffix(float x)       \
    {                                                   \
        return simt_cast<int>(round(x));                \
    }                                                   \
    SIMT_DEVICE unsigned __float2uint_##suffix(float x) \
    {                                                   \
        return simt_cast<unsigned>(round(x));           \
    }
SIMT_FLOAT_TO_INTEGERS(rn, rintf)
SIMT_FLOAT_TO_INTEGERS(rz, truncf)
SIMT_FLOAT_TO_INTEGERS(rd, floorf)
SIMT_FLOAT_TO_INTEGERS(ru, ceilf)
#undef SIMT_FLOAT_TO_INTEGERS
SIMT_DEVICE float __uint2float_rn(unsigned x)
{
    return (float)x;
}
SIMT_DEVICE int __dp4a(int a, int b, int sum)
{
    for (int i = 0; i < 4; i++)
        sum += (signed char)(a >> 8 * i) * (signed char)(b >> 8 * i);
    return sum;
}
SIMT_DEVICE unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
    for (int i = 0; i < 4; i++)
        sum += (unsigned char)(a >> 8 * i) * (unsigned char)(b >> 8 * i);
    return sum;
}
/* There is no time here: it goes on by one with each call. */
SIMT_DEVICE long long clock64(void)
{
    return simt_clock();
}
SIMT_DEVICE float __int2float_rn(int x)
{
    return (float)x;
}
SIMT_DEVICE unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)((unsigned long long)x * y >> 32);
}
SIMT_DEVICE int __mulhi(int x, int y)
{
    return (int)((long long)x * y >> 32);
}

#define SIMT_MIN_MAX(type)               \
    SIMT_DEVICE type min(type x, type y) \
    {                                    \
        return y < x ? y : x;            \
    }                                    \
    SIMT_DEVICE type max(type x, type y) \
    {                                    \
        return x < y ? y : x;            \
    }

SIMT_MIN_MAX(int)
SIMT_MIN_MAX(unsigned)
SIMT_MIN_MAX(long)
SIMT_MIN_MAX(unsigned long)
SIMT_MIN_MAX(long long)
SIMT_MIN_MAX(unsigned long long)
#undef SIMT_MIN_MAX

/* Mixed signs compare unsigned, as in CUDA. */
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

/* --- memory ------------------------------------------------------------------------------------------------------- */

#define SIMT_CACHED_LOAD(name)           \
    template <class T>                   \
    SIMT_DEVICE T name(const T *address) \
    {                                    \
        return *address;                 \
    }
#define SIMT_CACHED_STORE(name)                \
    template <class T>                         \
    SIMT_DEVICE void name(T *address, T value) \
    {                                          \
        *address = value;                      \
    }

template <class T>
SIMT_DEVICE T __ldg(const T *address)
{
    simt_read_only(address, sizeof(T));
    return *address;
}
SIMT_CACHED_LOAD(__ldca)
SIMT_CACHED_LOAD(__ldcg)
SIMT_CACHED_LOAD(__ldcs)
SIMT_CACHED_LOAD(__ldlu)
SIMT_CACHED_LOAD(__ldcv)
SIMT_CACHED_STORE(__stwb)
SIMT_CACHED_STORE(__stcg)
SIMT_CACHED_STORE(__stcs)
SIMT_CACHED_STORE(__stwt)
#undef SIMT_CACHED_LOAD
#undef SIMT_CACHED_STORE

/* The library's functions are not instrumented, so what kernels call is not they. */
SIMT_DEVICE void *simt_memcpy(void *to, const void *from, size_t bytes)
{
    simt_touch_range(from, bytes, 0);
    simt_touch_range(to, bytes, 1);
    return __builtin_memcpy(to, from, bytes);
}
SIMT_DEVICE void *simt_memmove(void *to, const void *from, size_t bytes)
{
    simt_touch_range(from, bytes, 0);
    simt_touch_range(to, bytes, 1);
    return __builtin_memmove(to, from, bytes);
}
SIMT_DEVICE void *simt_memset(void *to, int value, size_t bytes)
{
    simt_touch_range(to, bytes, 1);
    return __builtin_memset(to, value, bytes);
}
namespace std
{
using ::simt_memcpy;
using ::simt_memmove;
using ::simt_memset;
} // namespace std
#define memcpy(to, from, bytes)  simt_memcpy(to, from, bytes)
#define memmove(to, from, bytes) simt_memmove(to, from, bytes)
#define memset(to, value, bytes) simt_memset(to, value, bytes)

SIMT_DEVICE void __threadfence(void)
{
    simt_fence(0);
}
SIMT_DEVICE void __threadfence_block(void)
{
    simt_fence(1);
}
SIMT_DEVICE void __threadfence_system(void)
{
    simt_fence(0);
}

/* --- warps and blocks --------------------------------------------------------------------------------------------- */

/** Any value of 1, 2, 4 or 8 bytes as a word, and back. */
template <class T>
SIMT_DEVICE uint64_t simt_to_word(T value)
{
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "no such shuffle");
    if constexpr (sizeof(T) == 8)
        return __builtin_bit_cast(uint64_t, value);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(uint32_t, value);
    else if constexpr (sizeof(T) == 2)
        return __builtin_bit_cast(uint16_t, value);
    else
        return __builtin_bit_cast(uint8_t, value);
}
template <class T>
SIMT_DEVICE T simt_from_word(uint64_t word)
{
    if constexpr (sizeof(T) == 8)
        return __builtin_bit_cast(T, word);
    else if constexpr (sizeof(T) == 4)
        return __builtin_bit_cast(T, (uint32_t)word);
    else if constexpr (sizeof(T) == 2)
        return __builtin_bit_cast(T, (uint16_t)word);
    else
        return __builtin_bit_cast(T, (uint8_t)word);
}

template <class T>
SIMT_DEVICE T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    return simt_from_word<T>(simt_shuffle(mask, SIMT_SHUFFLE_INDEX, simt_to_word(value), lane, width, sizeof(T)));
}
template <class T>
SIMT_DEVICE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    return simt_from_word<T>(simt_shuffle(mask, SIMT_SHUFFLE_UP, simt_to_word(value), (int)delta, width, sizeof(T)));
}
template <class T>
SIMT_DEVICE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    return simt_from_word<T>(simt_shuffle(mask, SIMT_SHUFFLE_DOWN, simt_to_word(value), (int)delta, width, sizeof(T)));
}
template <class T>
SIMT_DEVICE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32)
{
    return simt_from_word<T>(simt_shuffle(mask, SIMT_SHUFFLE_XOR, simt_to_word(value), lane_mask, width, sizeof(T)));
}
SIMT_DEVICE unsigned __ballot_sync(unsigned mask, int predicate)
{
    return simt_ballot(mask, predicate);
}
SIMT_DEVICE int __any_sync(unsigned mask, int predicate)
{
    return simt_any(mask, predicate);
}
SIMT_DEVICE int __all_sync(unsigned mask, int predicate)
{
    return simt_all(mask, predicate);
}
SIMT_DEVICE unsigned __activemask(void)
{
    return simt_activemask();
}
template <class T>
SIMT_DEVICE unsigned __match_any_sync(unsigned mask, T value)
{
    return simt_match_any(mask, simt_to_word(value));
}
template <class T>
SIMT_DEVICE unsigned __match_all_sync(unsigned mask, T value, int *all)
{
    const unsigned same = simt_match_all(mask, simt_to_word(value));

    *all = same != 0;
    return same;
}
SIMT_DEVICE unsigned __reduce_add_sync(unsigned mask, unsigned value)
{
    return simt_reduce(mask, SIMT_REDUCE_ADD, value);
}
SIMT_DEVICE unsigned __reduce_min_sync(unsigned mask, unsigned value)
{
    return simt_reduce(mask, SIMT_REDUCE_MIN, value);
}
SIMT_DEVICE unsigned __reduce_max_sync(unsigned mask, unsigned value)
{
    return simt_reduce(mask, SIMT_REDUCE_MAX, value);
}
SIMT_DEVICE int __reduce_add_sync(unsigned mask, int value)
{
    return (int)simt_reduce(mask, SIMT_REDUCE_ADD, (unsigned)value);
}
SIMT_DEVICE int __reduce_min_sync(unsigned mask, int value)
{
    return (int)simt_reduce(mask, SIMT_REDUCE_MIN_SIGNED, (unsigned)value);
}
SIMT_DEVICE int __reduce_max_sync(unsigned mask, int value)
{
    return (int)simt_reduce(mask, SIMT_REDUCE_MAX_SIGNED, (unsigned)value);
}
SIMT_DEVICE unsigned __reduce_and_sync(unsigned mask, unsigned value)
{
    return simt_reduce(mask, SIMT_REDUCE_AND, value);
}
SIMT_DEVICE unsigned __reduce_or_sync(unsigned mask, unsigned value)
{
    return simt_reduce(mask, SIMT_REDUCE_OR, value);
}
SIMT_DEVICE unsigned __reduce_xor_sync(unsigned mask, unsigned value)
{
    return simt_reduce(mask, SIMT_REDUCE_XOR, value);
}
SIMT_DEVICE void __syncwarp(unsigned mask = 0xffffffffu)
{
    simt_syncwarp(mask);
}
SIMT_DEVICE void __syncthreads(void)
{
    simt_syncthreads();
}
SIMT_DEVICE int __syncthreads_count(int predicate)
{
    return simt_syncthreads_count(predicate);
}
SIMT_DEVICE int __syncthreads_and(int predicate)
{
    return simt_syncthreads_and(predicate);
}
SIMT_DEVICE int __syncthreads_or(int predicate)
{
    return simt_syncthreads_or(predicate);
}
SIMT_DEVICE void __trap(void)
{
    simt_trap();
}

/* --- atomics ------------------------------------------------------------------------------------------------------ */

template <class T>
SIMT_DEVICE T simt_atomic(T *address, enum simt_atomic_op op, int in_block, T operand, T compare = T())
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "no such atomic");
    if constexpr (sizeof(T) == 8)
        return simt_from_word<T>(
            simt_atomic64((void *)address, op, in_block, simt_to_word(operand), simt_to_word(compare)));
    else
        return simt_from_word<T>(simt_atomic32((void *)address, op, in_block, (uint32_t)simt_to_word(operand),
                                               (uint32_t)simt_to_word(compare)));
}

/* Each with the _block and _system forms, which differ in scope only. */
#define SIMT_ATOMIC_SCOPE(name, scope, in_block, type, op)        \
    SIMT_DEVICE type name##scope(type *address, type operand)     \
    {                                                             \
        return simt_atomic<type>(address, op, in_block, operand); \
    }
#define SIMT_ATOMIC(name, type, op)              \
    SIMT_ATOMIC_SCOPE(name, , 0, type, op)       \
    SIMT_ATOMIC_SCOPE(name, _block, 1, type, op) \
    SIMT_ATOMIC_SCOPE(name, _system, 0, type, op)
#define SIMT_ATOMIC_COMPARE_SCOPE(scope, in_block, type)                                    \
    SIMT_DEVICE type atomicCAS##scope(type *address, type compare, type operand)            \
    {                                                                                       \
        return simt_atomic<type>(address, SIMT_ATOMIC_COMPARE, in_block, operand, compare); \
    }
#define SIMT_ATOMIC_CAS(type)                  \
    SIMT_ATOMIC_COMPARE_SCOPE(, 0, type)       \
    SIMT_ATOMIC_COMPARE_SCOPE(_block, 1, type) \
    SIMT_ATOMIC_COMPARE_SCOPE(_system, 0, type)
#define SIMT_ATOMIC_SUB_SCOPE(scope, in_block, type)                                                  \
    SIMT_DEVICE type atomicSub##scope(type *address, type operand)                                    \
    {                                                                                                 \
        return simt_atomic<type>(address, SIMT_ATOMIC_ADD, in_block, (type)(0u - (unsigned)operand)); \
    }
#define SIMT_ATOMIC_SUB(type)              \
    SIMT_ATOMIC_SUB_SCOPE(, 0, type)       \
    SIMT_ATOMIC_SUB_SCOPE(_block, 1, type) \
    SIMT_ATOMIC_SUB_SCOPE(_system, 0, type)

SIMT_ATOMIC(atomicAdd, int, SIMT_ATOMIC_ADD)
SIMT_ATOMIC(atomicAdd, unsigned, SIMT_ATOMIC_ADD)
SIMT_ATOMIC(atomicAdd, unsigned long long, SIMT_ATOMIC_ADD)
SIMT_ATOMIC(atomicAdd, float, SIMT_ATOMIC_ADD_FLOAT)
SIMT_ATOMIC(atomicAdd, double, SIMT_ATOMIC_ADD_DOUBLE)
SIMT_ATOMIC_SUB(int)
SIMT_ATOMIC_SUB(unsigned)
SIMT_ATOMIC(atomicMin, int, SIMT_ATOMIC_MIN_SIGNED)
SIMT_ATOMIC(atomicMin, unsigned, SIMT_ATOMIC_MIN)
SIMT_ATOMIC(atomicMin, unsigned long long, SIMT_ATOMIC_MIN)
SIMT_ATOMIC(atomicMin, long long, SIMT_ATOMIC_MIN_SIGNED)
SIMT_ATOMIC(atomicMax, int, SIMT_ATOMIC_MAX_SIGNED)
SIMT_ATOMIC(atomicMax, unsigned, SIMT_ATOMIC_MAX)
SIMT_ATOMIC(atomicMax, unsigned long long, SIMT_ATOMIC_MAX)
SIMT_ATOMIC(atomicMax, long long, SIMT_ATOMIC_MAX_SIGNED)
SIMT_ATOMIC(atomicExch, int, SIMT_ATOMIC_EXCHANGE)
SIMT_ATOMIC(atomicExch, unsigned, SIMT_ATOMIC_EXCHANGE)
SIMT_ATOMIC(atomicExch, unsigned long long, SIMT_ATOMIC_EXCHANGE)
SIMT_ATOMIC(atomicExch, float, SIMT_ATOMIC_EXCHANGE)
SIMT_ATOMIC(atomicAnd, int, SIMT_ATOMIC_AND)
SIMT_ATOMIC(atomicAnd, unsigned, SIMT_ATOMIC_AND)
SIMT_ATOMIC(atomicAnd, unsigned long long, SIMT_ATOMIC_AND)
SIMT_ATOMIC(atomicOr, int, SIMT_ATOMIC_OR)
SIMT_ATOMIC(atomicOr, unsigned, SIMT_ATOMIC_OR)
SIMT_ATOMIC(atomicOr, unsigned long long, SIMT_ATOMIC_OR)
SIMT_ATOMIC(atomicXor, int, SIMT_ATOMIC_XOR)
SIMT_ATOMIC(atomicXor, unsigned, SIMT_ATOMIC_XOR)
SIMT_ATOMIC(atomicXor, unsigned long long, SIMT_ATOMIC_XOR)
SIMT_ATOMIC(atomicInc, unsigned, SIMT_ATOMIC_INCREMENT)
SIMT_ATOMIC(atomicDec, unsigned, SIMT_ATOMIC_DECREMENT)
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned)
SIMT_ATOMIC_CAS(unsigned long long)
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_SCOPE
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC_COMPARE_SCOPE
#undef SIMT_ATOMIC_SUB
#undef SIMT_ATOMIC_SUB_SCOPE

#endif
