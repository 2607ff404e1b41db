/**
 * @file simt_device.h
 * @brief CUDA's kernel language in C++: qualifiers, built-in variables, warp, block and atomic functions, arithmetic.
 *        cuda_runtime.h includes it for C++.
 *
 * Every function here is inlined into the kernel, so that the program counter of a call belongs to a line of the
 * kernel. No function has a branch, because its branches would be counted as the kernel's.
 */
#ifndef SIMT_DEVICE_H
#define SIMT_DEVICE_H

#include <assert.h>
#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <type_traits>
#include <utility>

#include "device_calls.h"
#include "small_float_type.h"

/* This is only a warning, because one lane may set a variable that the other lanes then receive through a shuffle. */
#ifndef __clang__
#pragma GCC diagnostic warning "-Wmaybe-uninitialized"
#endif

/* --- qualifiers --------------------------------------------------------------------------------------------------- */

#define __global__
#define __device__
#define __CUDACC__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
/*
 * The rewriter inserts this macro at the beginning of a kernel's body. The macro adds an entry to the section
 * simt_bounds: the position in the code and the largest number of threads per block.
 */
#define SIMT_LAUNCH_BOUNDS(...)                                                                          \
    __asm__ volatile(".pushsection simt_bounds,\"a?\"\n.long 1f - ., %c0\n.popsection\n1:" /* no code */ \
                     :                                                                                   \
                     : "i"(simt_max_threads_of_launch_bounds(__VA_ARGS__)));
constexpr int simt_max_threads_of_launch_bounds(unsigned threads, unsigned = 0, unsigned = 0)
{
    return (int)threads;
}
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define SIMT_NOINLINE   __attribute__((noinline)) /* for __noinline__, which libstdc++ uses in attributes */
#define __align__(n)    __attribute__((aligned(n)))
#ifdef __clang__
#define __shared__             static __thread
#define SIMT_ATTRIBUTES_OF_GAP used
#define SIMT_ATTRIBUTES_OF_VARIABLE_BEFORE_GAP \
    used, /* otherwise the compiler may place the variable after its gap, not before it */
#else
#define __shared__                                                                                 \
    static __constinit __thread /* else gcc guards arrays of class objects with a hidden branch */ \
        __attribute__((no_reorder))
#define SIMT_ATTRIBUTES_OF_GAP                 used, no_reorder
#define SIMT_ATTRIBUTES_OF_VARIABLE_BEFORE_GAP no_reorder,
#endif

/*
 * Variables of the device have constant initialisers, because CUDA runs no constructors for them. Gcc rejects
 * __constinit in declarations such as int (*name[2])(int), for which the rewriter inserts the macros that end in
 * _NO_CONSTINIT.
 */
#ifdef __clang__ /* rejects variables whose class has a trivial constructor */
#define SIMT_CONSTINIT
#else
#define SIMT_CONSTINIT __constinit
#endif

/* The alignment that nvcc gives a local array of less than 16 bytes if it is read as a wider type. */
#define SIMT_NVCC_SMALL_ARRAY_ALIGNMENT __attribute__((aligned(8)))

/*
 * The rewriter inserts a gap after each variable, so that an access past the end of the variable falls into the gap and
 * is reported. The gaps are sized so that every variable stays in the same banks as without gaps.
 */
#define SIMT_GAP_AFTER_SHARED_VARIABLE SIMT_SHARED_GAP_(__COUNTER__)
#define SIMT_SHARED_GAP_(number)       SIMT_SHARED_GAP_NAMED(number)
#define SIMT_SHARED_GAP_NAMED(number) \
    static __thread __attribute__((SIMT_ATTRIBUTES_OF_GAP, aligned(1))) unsigned char simt_gap_##number[128];
#define __constant__ SIMT_CONSTINIT SIMT_CONSTANT_VARIABLE_NO_CONSTINIT
#define SIMT_CONSTANT_VARIABLE_NO_CONSTINIT \
    __attribute__((SIMT_ATTRIBUTES_OF_VARIABLE_BEFORE_GAP section("simt_constant")))

/*
 * Variables that are const are in sections of their own, because gcc does not store constants and variables in the same
 * section. The compiler checks the initialisers unless there is a constexpr, which checks them anyway, or gcc rejects
 * __constinit.
 */
#define SIMT_CONST_CONSTANT_VARIABLE SIMT_CONSTINIT SIMT_CONST_CONSTANT_VARIABLE_NO_CONSTINIT
#define SIMT_CONST_CONSTANT_VARIABLE_NO_CONSTINIT \
    __attribute__((SIMT_ATTRIBUTES_OF_VARIABLE_BEFORE_GAP section("simt_constant_table")))
#define SIMT_CONST_DEVICE_VARIABLE SIMT_CONSTINIT SIMT_CONST_DEVICE_VARIABLE_NO_CONSTINIT
#define SIMT_CONST_DEVICE_VARIABLE_NO_CONSTINIT \
    __attribute__((SIMT_ATTRIBUTES_OF_VARIABLE_BEFORE_GAP section("simt_device_table")))

#define SIMT_GAP_AFTER_CONST_CONSTANT_VARIABLE SIMT_CONST_GAP_(__COUNTER__, "simt_constant_table")
#define SIMT_GAP_AFTER_CONST_DEVICE_VARIABLE   SIMT_CONST_GAP_(__COUNTER__, "simt_device_table")
#define SIMT_CONST_GAP_(number, section_name)  SIMT_CONST_GAP_NAMED(number, section_name)
#define SIMT_CONST_GAP_NAMED(number, section_name)                  \
    static const __attribute__((SIMT_ATTRIBUTES_OF_GAP, aligned(1), \
                                section(section_name))) unsigned char simt_gap_##number[128] = {};

/* The same gaps for variables in global and constant memory, which are kept separate from the host's variables. */
#define SIMT_DEVICE_VARIABLE              SIMT_CONSTINIT SIMT_DEVICE_VARIABLE_NO_CONSTINIT
#define SIMT_DEVICE_VARIABLE_NO_CONSTINIT __attribute__((SIMT_ATTRIBUTES_OF_VARIABLE_BEFORE_GAP section("simt_device")))
#define SIMT_GAP_AFTER_DEVICE_VARIABLE    SIMT_GAP_(__COUNTER__, "simt_device")
#define SIMT_GAP_AFTER_CONSTANT_VARIABLE  SIMT_GAP_(__COUNTER__, "simt_constant")
#define SIMT_GAP_(number, section_name)   SIMT_GAP_NAMED(number, section_name)
#define SIMT_GAP_NAMED(number, section_name)                  \
    static __attribute__((SIMT_ATTRIBUTES_OF_GAP, aligned(1), \
                          section(section_name))) unsigned char simt_gap_##number[128];
#ifndef __restrict__
#define __restrict__ __restrict
#endif

/* --- built-in variables ------------------------------------------------------------------------------------------- */

/**
 * An index with three components like uint3, but of a trivial type, so that the compiler treats a const object as a
 * constant.
 */
struct simt_trivial_uint3 {
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

/*
 * Constants within a thread: the engine sets these variables before it resumes the thread. Reads of them are not
 * instrumented.
 */
extern "C" {
extern const simt_trivial_uint3 simt_thread_idx;
extern const simt_trivial_uint3 simt_block_idx;
extern const simt_trivial_uint3 simt_block_dim;
extern const simt_trivial_uint3 simt_grid_dim;
}

extern "C" {
extern __thread unsigned char simt_dynamic_shared[]; /* the dynamic array, under any name that a kernel gives it */
}

#define threadIdx simt_thread_idx
#define blockIdx  simt_block_idx
#define blockDim  simt_block_dim
#define gridDim   simt_grid_dim
static constexpr int warpSize = SIMT_WARP_SIZE;

/* --- operations that C++ leaves undefined and a GPU defines ------------------------------------------------------- */

/*
 * The rewriter inserts these replacements in device functions, for the counts of shifts and for conversions to
 * integers.
 */
#define SIMT_CONSTEXPR constexpr inline __attribute__((always_inline))
#define SIMT_CUDA_ARCH 900

/* These types are scalar, so that they stay in registers: compilers would keep a structure in memory here. */
enum class simt_shift_count_type {};
static constexpr simt_shift_count_type simt_shift_count = {};

/* An operator of the expression for a count, whose result is again marked as a count: x << a + b. */
#define SIMT_DEFINE_OPERATOR_ON_SHIFT_COUNT(count_type, type, op) \
    template <class T>                                            \
    SIMT_CONSTEXPR auto operator op(count_type left, T right)     \
    {                                                             \
        return simt_shift_count * ((type)left op right);          \
    }
/* A shift that the program defines, whose left operand is of a class or an enumeration. */
#define SIMT_FORWARD_USER_DEFINED_SHIFT(op, count_type, type)                                                     \
    template <class T, std::enable_if_t<!std::is_integral_v<std::remove_reference_t<T>>, int> = 0>                \
    SIMT_CONSTEXPR auto operator op(T &&left, count_type count)->decltype(static_cast<T &&>(left) op(type) count) \
    {                                                                                                             \
        return static_cast<T &&>(left) op(type) count;                                                            \
    }
#define SIMT_DEFINE_SHIFT_COUNT_TYPE(count_type, type)                            \
    enum class count_type : type {};                                              \
    SIMT_CONSTEXPR count_type operator*(simt_shift_count_type, type value)        \
    {                                                                             \
        return (count_type)value;                                                 \
    }                                                                             \
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>          \
    SIMT_CONSTEXPR auto operator<<(T left, count_type count)->decltype(left << 1) \
    {                                                                             \
        return simt_shift_left<decltype(left << 1)>(left, (unsigned)count);       \
    }                                                                             \
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>          \
    SIMT_CONSTEXPR auto operator>>(T left, count_type count)->decltype(left >> 1) \
    {                                                                             \
        return simt_shift_right<decltype(left >> 1)>(left, (unsigned)count);      \
    }                                                                             \
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>          \
    SIMT_CONSTEXPR T &operator<<=(T &left, count_type count)                      \
    {                                                                             \
        return left = (T)(left << count);                                         \
    }                                                                             \
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>          \
    SIMT_CONSTEXPR T &operator>>=(T &left, count_type count)                      \
    {                                                                             \
        return left = (T)(left >> count);                                         \
    }                                                                             \
    SIMT_FORWARD_USER_DEFINED_SHIFT(<<, count_type, type)                         \
    SIMT_FORWARD_USER_DEFINED_SHIFT(>>, count_type, type)                         \
    SIMT_FORWARD_USER_DEFINED_SHIFT(<<=, count_type, type)                        \
    SIMT_FORWARD_USER_DEFINED_SHIFT(>>=, count_type, type)

/*
 * Shift a value without a branch. If the count is at least the width of T, the result is 0 or, for a right shift of a
 * signed value, copies of the sign bit.
 */
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

SIMT_DEFINE_SHIFT_COUNT_TYPE(simt_shift_count_int, int)
SIMT_DEFINE_SHIFT_COUNT_TYPE(simt_shift_count_unsigned, unsigned)
SIMT_DEFINE_SHIFT_COUNT_TYPE(simt_shift_count_long, long)
SIMT_DEFINE_SHIFT_COUNT_TYPE(simt_shift_count_unsigned_long, unsigned long)
SIMT_DEFINE_SHIFT_COUNT_TYPE(simt_shift_count_long_long, long long)
SIMT_DEFINE_SHIFT_COUNT_TYPE(simt_shift_count_unsigned_long_long, unsigned long long)
#define SIMT_DEFINE_OPERATOR_ON_ALL_SHIFT_COUNTS(op)                                       \
    SIMT_DEFINE_OPERATOR_ON_SHIFT_COUNT(simt_shift_count_int, int, op)                     \
    SIMT_DEFINE_OPERATOR_ON_SHIFT_COUNT(simt_shift_count_unsigned, unsigned, op)           \
    SIMT_DEFINE_OPERATOR_ON_SHIFT_COUNT(simt_shift_count_long, long, op)                   \
    SIMT_DEFINE_OPERATOR_ON_SHIFT_COUNT(simt_shift_count_unsigned_long, unsigned long, op) \
    SIMT_DEFINE_OPERATOR_ON_SHIFT_COUNT(simt_shift_count_long_long, long long, op)         \
    SIMT_DEFINE_OPERATOR_ON_SHIFT_COUNT(simt_shift_count_unsigned_long_long, unsigned long long, op)
SIMT_DEFINE_OPERATOR_ON_ALL_SHIFT_COUNTS(*)
SIMT_DEFINE_OPERATOR_ON_ALL_SHIFT_COUNTS(/)
SIMT_DEFINE_OPERATOR_ON_ALL_SHIFT_COUNTS(%)
SIMT_DEFINE_OPERATOR_ON_ALL_SHIFT_COUNTS(+)
SIMT_DEFINE_OPERATOR_ON_ALL_SHIFT_COUNTS(-)

/* The right operand of a << or >> that the program defines, such as the text in `output << "n = "`. */
template <class T, std::enable_if_t<!std::is_integral_v<T> && !std::is_enum_v<T>, int> = 0>
SIMT_CONSTEXPR const T &operator*(simt_shift_count_type, const T &value)
{
    return value;
}
#undef SIMT_DEFINE_SHIFT_COUNT_TYPE
#undef SIMT_FORWARD_USER_DEFINED_SHIFT
#undef SIMT_DEFINE_OPERATOR_ON_SHIFT_COUNT
#undef SIMT_DEFINE_OPERATOR_ON_ALL_SHIFT_COUNTS

template <class T>
struct simt_cast_to_integer_as_gpu_to {
};
/*
 * Converts a number to an integer by truncation. A NaN becomes 0 if both types have 4 bytes, and otherwise the integer
 * in which only the highest bit is set.
 */
template <class To, class From>
SIMT_CONSTEXPR To simt_cast_to_integer_as_gpu(From value)
{
    if constexpr (std::is_floating_point_v<From>) {
        const To nan = sizeof(To) == 4 && sizeof(From) == 4 ? 0 : (To)(1ull << (8 * sizeof(To) - 1));

        if (!__builtin_is_constant_evaluated())
            return simt_to_integer<To>(__builtin_trunc((double)value), nan);
    }
    return (To)value;
}
template <class To, class From>
SIMT_CONSTEXPR To operator->*(simt_cast_to_integer_as_gpu_to<To>, From value)
{
    return simt_cast_to_integer_as_gpu<To>(value);
}

/*
 * The rewriter turns (int4 *)x into (int4 *)simt_of_unknown_alignment<16>(x). Where gcc knows that an address is not
 * aligned, it emits the same hook as for copies of structures and members of packed structures, which may be at any
 * address. An empty asm statement hides such an address, so that gcc emits the hook of an aligned access, which checks
 * the address.
 */
template <class T>
inline __attribute__((always_inline)) T *simt_hide_address(T *pointer)
{
    asm("" : "+r"(pointer));
    return pointer;
}
template <unsigned ALIGNMENT, class T>
SIMT_CONSTEXPR T simt_of_unknown_alignment(T value)
{
    return value;
}
template <unsigned ALIGNMENT, class T>
SIMT_CONSTEXPR T *simt_of_unknown_alignment(T *pointer)
{
    if (!__builtin_is_constant_evaluated() && __builtin_constant_p((uintptr_t)pointer % ALIGNMENT) &&
        (uintptr_t)pointer % ALIGNMENT != 0)
        return simt_hide_address(pointer);
    return pointer;
}

/*
 * The rewriter turns a[i] into a[simt_checked_index_within_array<__typeof__(a)>() |= i], with an assignment operator
 * because the index may be any expression and assignment has the lowest precedence. If a is an array or an std::array,
 * an index outside it is displaced, without a branch, so far that no memory is mapped there. In &a[i] the index may
 * also be one past the last element, which simt_checked_index_within_array_or_end allows. An array of one element is
 * not checked, because it may be the last member of a structure with more elements.
 */
template <class Array>
struct simt_checked_index_within_array {
};
template <class Array>
struct simt_checked_index_within_array_or_end {
};
/*
 * The number and type of an array's elements, if the array is a T[N] or an std::array; the number is 0 for any other
 * type.
 */
template <class Array>
struct simt_array_traits {
    static constexpr size_t count = 0;
};
template <class T, size_t N>
struct simt_array_traits<T[N]> {
    static constexpr size_t count = N;
    using type = T;
};
template <class T, size_t N>
struct simt_array_traits<std::array<T, N>> {
    static constexpr size_t count = N;
    using type = T;
};
template <class Array, unsigned EXTRA, class Index>
SIMT_CONSTEXPR auto simt_displace_out_of_bounds_index(Index index)
{
    using elements = simt_array_traits<std::remove_cv_t<std::remove_reference_t<Array>>>;

    if constexpr (elements::count > 1) {
        constexpr long long far = SIMT_OUT_OF_BOUNDS_DISPLACEMENT_BYTES / sizeof(typename elements::type);
        const long long place = index;

        return place - far * ((unsigned long long)place >= elements::count + EXTRA);
    } else {
        return index;
    }
}
/*
 * Replaces simt_checked_index_within_array for a constant array of the host, which kernels cannot access, except that a
 * compiler for GPUs may know the elements whose indices are constant. Clang cannot tell which indices are constant, so
 * nothing is checked with clang.
 */
template <class Array>
struct simt_checked_constant_index_of_host_array {
};
template <class Array, class Index>
SIMT_CONSTEXPR auto operator|=(simt_checked_constant_index_of_host_array<Array>, Index index)
{
#ifndef __clang__
    if (!__builtin_is_constant_evaluated() && !__builtin_constant_p(index))
        simt_fault_if_kernel_reads_host_constant();
#endif
    return simt_displace_out_of_bounds_index<Array, 0>(index);
}
template <class Array, class Index>
SIMT_CONSTEXPR auto operator|=(simt_checked_index_within_array<Array>, Index index)
{
    return simt_displace_out_of_bounds_index<Array, 0>(index);
}
template <class Array, class Index>
SIMT_CONSTEXPR auto operator|=(simt_checked_index_within_array_or_end<Array>, Index index)
{
    return simt_displace_out_of_bounds_index<Array, 1>(index);
}

/*
 * --- where blocks of the source begin -------------------------------------------------------------------------------
 */

/*
 * The rewriter's marks, numbered in source order (mark_blocks.c). They do nothing in an expression that is evaluated at
 * compile time.
 */
#define SIMT_BASIC_BLOCK         simt_basic_block_begins(__COUNTER__)
#define SIMT_CONDITIONAL_OPERAND simt_mark_expression_branch(__COUNTER__)
#define SIMT_AND_OPERAND         simt_mark_operand_and_return_true(__COUNTER__)
#define SIMT_OR_OPERAND          !simt_mark_operand_and_return_true(__COUNTER__)
#if SIMT_WARP_SIZE == 32
#define SIMT_RECONVERGE_EXPRESSION_BEGIN
#define SIMT_RECONVERGE_EXPRESSION_END
#define SIMT_LOOP_ITERATION  SIMT_BASIC_BLOCK
#define SIMT_CALLED_FUNCTION const simt_call_scope simt_call_scope_of(__COUNTER__)
#else
#define SIMT_RECONVERGE_EXPRESSION_BEGIN (
#define SIMT_RECONVERGE_EXPRESSION_END , simt_reconverge_lanes_at(__COUNTER__))
#define SIMT_LOOP_ITERATION \
    SIMT_BASIC_BLOCK;       \
    const simt_call_or_iteration_guard simt_this_iteration(true)
#define SIMT_CALLED_FUNCTION                                  \
    const simt_call_or_iteration_guard simt_this_call(false); \
    const simt_call_scope simt_call_scope_of(__COUNTER__)
#endif

/* The rewriter's mark in a function that has neither __device__ nor __global__: such a function faults in a kernel. */
#define SIMT_FAULT_IF_RUN_BY_KERNEL simt_fault_if_kernel_calls_host_function(__func__)

SIMT_CONSTEXPR void simt_mark_expression_branch(unsigned mark_number)
{
    if (!__builtin_is_constant_evaluated())
        simt_basic_block_begins(mark_number);
}
SIMT_CONSTEXPR bool simt_mark_operand_and_return_true(unsigned mark_number)
{
    simt_mark_expression_branch(mark_number);
    return true;
}
/*
 * Makes the lanes that diverged in an expression wait for each other. SIMT_RECONVERGE_EXPRESSION_END appends a comma
 * operator whose right operand has this type. The operator is evaluated after the expression and returns the
 * expression's value. For an expression of type void, the built-in comma operator is used.
 */
struct simt_reconvergence_tag {
};
SIMT_CONSTEXPR simt_reconvergence_tag simt_reconverge_lanes_at(unsigned mark_number)
{
    if (!__builtin_is_constant_evaluated())
        simt_lanes_reconverge(mark_number);
    return {};
}
template <class T>
SIMT_CONSTEXPR T operator,(T &&value, simt_reconvergence_tag)
{
    return static_cast<T &&>(value);
}
/*
 * Checks the load of an argument that is a structure in memory and is passed by value; clang instruments such loads
 * itself.
 */
template <class T>
static inline constexpr __attribute__((always_inline)) T &&simt_checked_argument(T &&value)
{
#ifndef __clang__
    typedef std::remove_cv_t<std::remove_reference_t<T>> type;

    if constexpr (std::is_lvalue_reference_v<T> && std::is_class_v<type> && !std::is_empty_v<type> &&
                  std::is_trivially_copy_constructible_v<type> && std::is_trivially_destructible_v<type>)
        if (!__builtin_is_constant_evaluated())
            simt_check_struct_argument_load((const void *)__builtin_addressof(value), sizeof value);
#endif
    return static_cast<T &&>(value);
}
class simt_call_scope
{
    uint64_t saved_position_key;

  public:
    inline __attribute__((always_inline)) explicit simt_call_scope(unsigned number)
        : saved_position_key(simt_call_begins(number))
    {
    }
    inline __attribute__((always_inline)) ~simt_call_scope()
    {
        simt_call_ends(saved_position_key);
    }
};

class simt_call_or_iteration_guard
{
    simt_call_or_iteration_frame frame;

  public:
    inline __attribute__((always_inline)) explicit simt_call_or_iteration_guard(bool is_iteration)
    {
        simt_call_or_iteration_begins(&frame, is_iteration);
    }
    inline __attribute__((always_inline)) ~simt_call_or_iteration_guard()
    {
        simt_call_or_iteration_ends(&frame);
    }
};

/* --- bits --------------------------------------------------------------------------------------------------------- */

#define SIMT_DEVICE static inline __attribute__((always_inline))

#ifndef __clang__
#define __builtin_assume(condition)            ((condition) ? (void)0 : simt_fault_false_assumption(#condition))
#define __builtin_assume_aligned(pointer, ...) simt_assume_aligned(pointer, __VA_ARGS__)
/* Reports a pointer that lacks the assumed alignment: `pointer` - `offset` must be aligned. */
SIMT_DEVICE void *simt_assume_aligned(const void *pointer, size_t alignment, size_t offset = 0)
{
    if (((size_t)pointer - offset) % alignment != 0)
        simt_fault_false_assumption("__builtin_assume_aligned()");
    return (void *)pointer;
}
#endif

/* --- unsupported features ----------------------------------------------------------------------------------------- */

/* Makes the compiler print an error at each use of an unsupported name. */
#define SIMT_UNSUPPORTED(text)  SIMT_UNSUPPORTED_(GCC error text)
#define SIMT_UNSUPPORTED_(text) _Pragma(#text)

#ifndef __clang__ /* clang warns about a macro of this name */
/* Rejects `asm`, CUDA's spelling of inline assembly; __asm__ still works. */
#define asm                                                                                                            \
    SIMT_UNSUPPORTED("inline PTX is not supported by the simulator: put it under #ifdef __CUDA_ARCH__, C under #else") \
    __asm__
#endif
#define __barrier_sync_count(...) \
    SIMT_UNSUPPORTED(             \
        "barriers of a part of a block are not supported by the simulator: __syncthreads() or __syncwarp()")
#define __managed__ SIMT_UNSUPPORTED("managed variables are not supported by the simulator: cudaMallocManaged()")
#define __cluster_dims__(...) \
    SIMT_UNSUPPORTED("thread block clusters are not supported by the simulator: exchange data in global memory")
#define SIMT_UNSUPPORTED_TEXTURE_TYPE(type)                                                                   \
    SIMT_UNSUPPORTED(                                                                                         \
        "textures, surfaces and arrays are not supported by the simulator: read global memory, by a pointer") \
    type
#define cudaTextureObject_t SIMT_UNSUPPORTED_TEXTURE_TYPE(unsigned long long)
#define cudaSurfaceObject_t SIMT_UNSUPPORTED_TEXTURE_TYPE(unsigned long long)
#define cudaArray_t         SIMT_UNSUPPORTED_TEXTURE_TYPE(void *)

/*
 * --- arithmetic -----------------------------------------------------------------------------------------------------
 */

#include "simt_intrinsics.h"

/* --- memory ------------------------------------------------------------------------------------------------------- */

#define SIMT_CACHE_HINT_LOAD(name)                      \
    template <class T>                                  \
    SIMT_DEVICE T name(const T *address)                \
    {                                                   \
        simt_check_global_pointer(address, #name "()"); \
        return *address;                                \
    }
#define SIMT_CACHE_HINT_STORE(name)                     \
    template <class T>                                  \
    SIMT_DEVICE void name(T *address, T value)          \
    {                                                   \
        simt_check_global_pointer(address, #name "()"); \
        *address = value;                               \
    }

template <class T>
SIMT_DEVICE T __ldg(const T *address)
{
    simt_check_ldg_bytes_read_only(address, sizeof(T));
    return *address;
}
SIMT_CACHE_HINT_LOAD(__ldca)
SIMT_CACHE_HINT_LOAD(__ldcg)
SIMT_CACHE_HINT_LOAD(__ldcs)
SIMT_CACHE_HINT_LOAD(__ldlu)
SIMT_CACHE_HINT_LOAD(__ldcv)
SIMT_CACHE_HINT_STORE(__stwb)
SIMT_CACHE_HINT_STORE(__stcg)
SIMT_CACHE_HINT_STORE(__stcs)
SIMT_CACHE_HINT_STORE(__stwt)
#undef SIMT_CACHE_HINT_LOAD
#undef SIMT_CACHE_HINT_STORE

/*
 * The C library's functions are not instrumented, so kernels call these replacements. Clang also inserts its own calls
 * to copy structures: versions up to 14 call the library's functions, and later versions call the thread sanitizer's
 * replacements.
 */
#ifdef __clang__
#define simt_check_memcpy_or_memset_range(pointer, bytes, store) ((void)0)
__asm__(".set memcpy, __tsan_memcpy\n.set memmove, __tsan_memmove\n.set memset, __tsan_memset");
#endif
SIMT_DEVICE void *simt_memcpy(void *to, const void *from, size_t bytes)
{
    simt_check_no_overlap(to, from, bytes);
    simt_check_memcpy_or_memset_range(from, bytes, 0);
    simt_check_memcpy_or_memset_range(to, bytes, 1);
    return __builtin_memcpy(to, from, bytes);
}
SIMT_DEVICE void *simt_memmove(void *to, const void *from, size_t bytes)
{
    simt_check_memcpy_or_memset_range(from, bytes, 0);
    simt_check_memcpy_or_memset_range(to, bytes, 1);
    return __builtin_memmove(to, from, bytes);
}
SIMT_DEVICE void *simt_memset(void *to, int value, size_t bytes)
{
    simt_check_memcpy_or_memset_range(to, bytes, 1);
    return __builtin_memset(to, value, bytes);
}
namespace std
{
using ::simt_free;
using ::simt_malloc;
using ::simt_memcpy;
using ::simt_memmove;
using ::simt_memset;
} // namespace std
#define memcpy(to, from, bytes)  simt_memcpy(to, from, bytes)
#define memmove(to, from, bytes) simt_memmove(to, from, bytes)
#define memset(to, value, bytes) simt_memset(to, value, bytes)
#define malloc(bytes)            simt_malloc(bytes)
#define free(memory)             simt_free(memory)

/* The simulator does not model time: the clock advances by one with each call. */
SIMT_DEVICE long long clock64(void)
{
    return simt_clock();
}
/* Ends the turn of the thread's warp, because a sleeping thread is usually waiting for other threads. */
SIMT_DEVICE void __nanosleep(unsigned nanoseconds)
{
    simt_sleep(nanoseconds);
}
/* Replaces the C library's clock(): in a kernel it returns CUDA's clock(). */
SIMT_DEVICE clock_t simt_clock_host_or_device(void)
{
    return (clock_t)simt_clock_or_host(clock());
}
namespace std
{
using ::simt_clock_host_or_device;
}
#define clock() simt_clock_host_or_device()

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

SIMT_DEVICE void cudaGridDependencySynchronize(void)
{
    simt_grid_dependency_sync();
}
/* Does nothing, because the call orders no accesses and only allows the next launch to start. */
SIMT_DEVICE void cudaTriggerProgrammaticLaunchCompletion(void)
{
}

/* --- warps and blocks --------------------------------------------------------------------------------------------- */

/** The unsigned integer type with `bytes` bytes. */
template <size_t bytes>
struct simt_uint_of_bytes;
template <>
struct simt_uint_of_bytes<1> {
    typedef uint8_t type;
};
template <>
struct simt_uint_of_bytes<2> {
    typedef uint16_t type;
};
template <>
struct simt_uint_of_bytes<4> {
    typedef uint32_t type;
};
template <>
struct simt_uint_of_bytes<8> {
    typedef uint64_t type;
};

/** Converts a value of 1, 2, 4 or 8 bytes to a word; simt_from_word() converts it back. */
template <class T>
SIMT_DEVICE uint64_t simt_to_word(T value)
{
    typename simt_uint_of_bytes<sizeof(T)>::type bits;

    if constexpr (std::is_trivially_copyable<T>::value)
        bits = __builtin_bit_cast(decltype(bits), value);
    else
        __builtin_memcpy(&bits, (const void *)&value, sizeof bits);
    return bits;
}
template <class T>
SIMT_DEVICE T simt_from_word(uint64_t word)
{
    const auto bits = (typename simt_uint_of_bytes<sizeof(T)>::type)word;

    if constexpr (std::is_trivially_copyable<T>::value) {
        return __builtin_bit_cast(T, bits);
    } else {
        T value;

        __builtin_memcpy((void *)&value, &bits, sizeof bits);
        return value;
    }
}

#if defined __has_attribute
#if __has_attribute(unavailable)
#define SIMT_UNAVAILABLE(reason) __attribute__((unavailable(reason)))
#endif
#endif

/* CUDA's match functions take these types, and values that convert to one of them; a shuffle also takes halves. */
int simt_match_operand(int);
unsigned simt_match_operand(unsigned);
long simt_match_operand(long);
unsigned long simt_match_operand(unsigned long);
long long simt_match_operand(long long);
unsigned long long simt_match_operand(unsigned long long);
float simt_match_operand(float);
double simt_match_operand(double);
template <class format>
void simt_match_operand(simt_small_float<format>) = delete;
/** The type to which a match function or a shuffle converts a T, if it takes a T. */
template <class T, class = void>
struct simt_match_type {
    static constexpr bool exists = false;
};
template <class T>
struct simt_match_type<T, std::void_t<decltype(simt_match_operand(std::declval<T>()))>> {
    static constexpr bool exists = true;
    typedef decltype(simt_match_operand(std::declval<T>())) type;
};
template <class T>
struct simt_shuffle_type : simt_match_type<T> {
};
template <class format>
struct simt_shuffle_type<simt_small_float<format>> {
    static constexpr bool exists = true;
    typedef simt_small_float<format> type;
};
template <class format>
struct simt_shuffle_type<simt_small_float2<format>> {
    static constexpr bool exists = true;
    typedef simt_small_float2<format> type;
};
template <class T>
using simt_shuffled = typename simt_shuffle_type<T>::type;

/** Shuffles a value of any type of 1, 2, 4 or 8 bytes, as the shuffles of cooperative groups do. */
template <class T>
SIMT_DEVICE T simt_shuffle_value(simt_lane_mask mask, enum simt_shuffle kind, T value, int argument, int width)
{
    return simt_from_word<T>(simt_shuffle(mask, kind, simt_to_word(value), argument, width, sizeof(T)));
}

#if SIMT_WARP_SIZE == 32
/*
 * The collectives without a mask, which CUDA no longer has. A call is an error that names the function to call instead.
 * Any parameters match an ellipsis, but worse than those of a program's own function or macro of the same name.
 */
#ifdef SIMT_UNAVAILABLE
#define SIMT_REMOVED(instead)                                                                                \
    SIMT_UNAVAILABLE("CUDA no longer has it; use " instead ", whose mask has the lanes that make the call: " \
                     "0xffffffff for all 32")
int __shfl(...) SIMT_REMOVED("__shfl_sync(mask, value, lane)");
int __shfl_up(...) SIMT_REMOVED("__shfl_up_sync(mask, value, delta)");
int __shfl_down(...) SIMT_REMOVED("__shfl_down_sync(mask, value, delta)");
int __shfl_xor(...) SIMT_REMOVED("__shfl_xor_sync(mask, value, lane_mask)");
int __ballot(...) SIMT_REMOVED("__ballot_sync(mask, predicate)");
int __any(...) SIMT_REMOVED("__any_sync(mask, predicate)");
int __all(...) SIMT_REMOVED("__all_sync(mask, predicate)");
#undef SIMT_REMOVED
#endif

template <class T>
SIMT_DEVICE simt_shuffled<T> __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
    return simt_shuffle_value<simt_shuffled<T>>(mask, SIMT_SHUFFLE_INDEX, value, lane, width);
}
template <class T>
SIMT_DEVICE simt_shuffled<T> __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    return simt_shuffle_value<simt_shuffled<T>>(mask, SIMT_SHUFFLE_UP, value, (int)delta, width);
}
template <class T>
SIMT_DEVICE simt_shuffled<T> __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    return simt_shuffle_value<simt_shuffled<T>>(mask, SIMT_SHUFFLE_DOWN, value, (int)delta, width);
}
template <class T>
SIMT_DEVICE simt_shuffled<T> __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32)
{
    return simt_shuffle_value<simt_shuffled<T>>(mask, SIMT_SHUFFLE_XOR, value, lane_mask, width);
}
#ifdef SIMT_UNAVAILABLE
/* The same functions for types that nvcc rejects, too: a call is an error that names the types. */
#define SIMT_SHUFFLE_OF_ANOTHER_TYPE(name, argument)                                                                  \
    template <class T, std::enable_if_t<!simt_shuffle_type<T>::exists, int> = 0>                                      \
    T name(unsigned mask, T value, argument, int width = 32)                                                          \
        SIMT_UNAVAILABLE("a shuffle takes int, long, long long and their unsigned types, float, double, __half, "     \
                         "__half2, __nv_bfloat16 and __nv_bfloat162; shuffle the members of a structure one by one, " \
                         "and cast a pointer to unsigned long long, an enum class to int");
SIMT_SHUFFLE_OF_ANOTHER_TYPE(__shfl_sync, int lane)
SIMT_SHUFFLE_OF_ANOTHER_TYPE(__shfl_up_sync, unsigned delta)
SIMT_SHUFFLE_OF_ANOTHER_TYPE(__shfl_down_sync, unsigned delta)
SIMT_SHUFFLE_OF_ANOTHER_TYPE(__shfl_xor_sync, int lane_mask)
#undef SIMT_SHUFFLE_OF_ANOTHER_TYPE
#endif
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
template <class T, class Operand = typename simt_match_type<T>::type>
SIMT_DEVICE unsigned __match_any_sync(unsigned mask, T value)
{
    return simt_match_any(mask, simt_to_word((Operand)value));
}
template <class T, class Operand = typename simt_match_type<T>::type>
SIMT_DEVICE unsigned __match_all_sync(unsigned mask, T value, int *all)
{
    const unsigned same = simt_match_all(mask, simt_to_word((Operand)value));

    *all = same != 0;
    return same;
}
#ifdef SIMT_UNAVAILABLE
#define SIMT_MATCH_TYPE_UNAVAILABLE                                                                                \
    SIMT_UNAVAILABLE("it takes int, long, long long and their unsigned types, float and double; call it for each " \
                     "member of a structure, and cast a pointer to unsigned long long, an enum class to int")
template <class T, std::enable_if_t<!simt_match_type<T>::exists, int> = 0>
unsigned __match_any_sync(unsigned mask, T value) SIMT_MATCH_TYPE_UNAVAILABLE;
template <class T, std::enable_if_t<!simt_match_type<T>::exists, int> = 0>
unsigned __match_all_sync(unsigned mask, T value, int *all) SIMT_MATCH_TYPE_UNAVAILABLE;
#undef SIMT_MATCH_TYPE_UNAVAILABLE
#endif
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
#else
/* HIP's collectives, which apply to the lanes that are active at the call. */
template <class T>
SIMT_DEVICE simt_shuffled<T> __shfl(T value, int lane, int width = warpSize)
{
    return simt_shuffle_value<simt_shuffled<T>>(SIMT_MASK_OF_ACTIVE_LANES, SIMT_SHUFFLE_INDEX, value, lane, width);
}
template <class T>
SIMT_DEVICE simt_shuffled<T> __shfl_up(T value, unsigned delta, int width = warpSize)
{
    return simt_shuffle_value<simt_shuffled<T>>(SIMT_MASK_OF_ACTIVE_LANES, SIMT_SHUFFLE_UP, value, (int)delta, width);
}
template <class T>
SIMT_DEVICE simt_shuffled<T> __shfl_down(T value, unsigned delta, int width = warpSize)
{
    return simt_shuffle_value<simt_shuffled<T>>(SIMT_MASK_OF_ACTIVE_LANES, SIMT_SHUFFLE_DOWN, value, (int)delta, width);
}
template <class T>
SIMT_DEVICE simt_shuffled<T> __shfl_xor(T value, int lane_mask, int width = warpSize)
{
    return simt_shuffle_value<simt_shuffled<T>>(SIMT_MASK_OF_ACTIVE_LANES, SIMT_SHUFFLE_XOR, value, lane_mask, width);
}
SIMT_DEVICE unsigned long long __ballot(int predicate)
{
    return simt_ballot(SIMT_MASK_OF_ACTIVE_LANES, predicate);
}
SIMT_DEVICE int __any(int predicate)
{
    return simt_any(SIMT_MASK_OF_ACTIVE_LANES, predicate);
}
SIMT_DEVICE int __all(int predicate)
{
    return simt_all(SIMT_MASK_OF_ACTIVE_LANES, predicate);
}
SIMT_DEVICE unsigned long long __activemask(void)
{
    return simt_ballot(SIMT_MASK_OF_ACTIVE_LANES, 1);
}
SIMT_DEVICE unsigned __lane_id(void)
{
    return simt_lane_number();
}
/*
 * The HIP compiler's builtins that order accesses within a wave. The barrier orders the accesses; the fence does
 * nothing, because the barrier includes it.
 */
SIMT_DEVICE void __builtin_amdgcn_wave_barrier(void)
{
    simt_syncwarp(SIMT_MASK_OF_ACTIVE_LANES);
}
#define __builtin_amdgcn_fence(order, scope) ((void)0)
#endif
/* Declared only so that the compiler suggests these names for misspelt ones: the macros are called. */
void __syncthreads(void);
int __syncthreads_count(int predicate);
int __syncthreads_and(int predicate);
int __syncthreads_or(int predicate);
#define __syncthreads()                simt_syncthreads(__COUNTER__)
#define __syncthreads_count(predicate) simt_syncthreads_count(predicate, __COUNTER__)
#define __syncthreads_and(predicate)   simt_syncthreads_and(predicate, __COUNTER__)
#define __syncthreads_or(predicate)    simt_syncthreads_or(predicate, __COUNTER__)
/* A block-wide barrier with a number, which threads may reach through different calls. */
#define __barrier_sync(number) simt_barrier_sync(number, __COUNTER__)
SIMT_DEVICE void __trap(void)
{
    simt_trap();
}

/* --- atomics ------------------------------------------------------------------------------------------------------ */

/*
 * Updates *address and returns its earlier value. If `in_block`, the update is atomic only for the threads of the
 * block.
 */
template <class T>
SIMT_DEVICE T simt_atomic(T *address, enum simt_atomic_op op, int in_block, T operand, T compare = T())
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "no such atomic");
    if constexpr (sizeof(T) == 2)
        return simt_from_word<T>(simt_atomic16((void *)address, op, in_block, (uint16_t)simt_to_word(operand),
                                               (uint16_t)simt_to_word(compare)));
    else if constexpr (sizeof(T) == 8)
        return simt_from_word<T>(
            simt_atomic64((void *)address, op, in_block, simt_to_word(operand), simt_to_word(compare)));
    else
        return simt_from_word<T>(simt_atomic32((void *)address, op, in_block, (uint32_t)simt_to_word(operand),
                                               (uint32_t)simt_to_word(compare)));
}

/* Each atomic also has _block and _system variants, which differ only in scope. */
#define SIMT_ATOMIC_SCOPE(name, scope, in_block, type, op)        \
    SIMT_DEVICE type name##scope(type *address, type operand)     \
    {                                                             \
        return simt_atomic<type>(address, op, in_block, operand); \
    }
#define SIMT_ATOMIC(name, type, op)              \
    SIMT_ATOMIC_SCOPE(name, , 0, type, op)       \
    SIMT_ATOMIC_SCOPE(name, _block, 1, type, op) \
    SIMT_ATOMIC_SCOPE(name, _system, 0, type, op)
#define SIMT_ATOMIC_CAS_SCOPE(scope, in_block, type)                                                 \
    SIMT_DEVICE type atomicCAS##scope(type *address, type compare, type operand)                     \
    {                                                                                                \
        return simt_atomic<type>(address, SIMT_ATOMIC_COMPARE_EXCHANGE, in_block, operand, compare); \
    }
#define SIMT_ATOMIC_CAS(type)              \
    SIMT_ATOMIC_CAS_SCOPE(, 0, type)       \
    SIMT_ATOMIC_CAS_SCOPE(_block, 1, type) \
    SIMT_ATOMIC_CAS_SCOPE(_system, 0, type)
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
SIMT_ATOMIC_CAS(unsigned short)

template <class format>
SIMT_DEVICE simt_small_float<format> atomicAdd(simt_small_float<format> *address, simt_small_float<format> operand)
{
    const bool half = format::INFINITE == 0x7c00;

    return simt_atomic(address, half ? SIMT_ATOMIC_ADD_HALF : SIMT_ATOMIC_ADD_BFLOAT16, 0, operand);
}
template <class format>
SIMT_DEVICE simt_small_float2<format> atomicAdd(simt_small_float2<format> *address, simt_small_float2<format> operand)
{
    const bool half = format::INFINITE == 0x7c00;

    return simt_atomic(address, half ? SIMT_ATOMIC_ADD_HALF2 : SIMT_ATOMIC_ADD_BFLOAT162, 0, operand);
}
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_SCOPE
#undef SIMT_ATOMIC_CAS
#undef SIMT_ATOMIC_CAS_SCOPE
#undef SIMT_ATOMIC_SUB
#undef SIMT_ATOMIC_SUB_SCOPE

#endif
