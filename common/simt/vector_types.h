/**
 * @file vector_types.h
 * @brief CUDA's short vectors, char1 to double4, with CUDA's alignment, and their make_ functions.
 *
 * In C++ a copy makes the same accesses as on a GPU: one for a vector of up to 16 bytes, two for a vector of 32 bytes,
 * and one per component for a vector of three components, whose alignment does not allow wider accesses. A copy that
 * the compiler generates would be split differently, which would change the counters. The default constructor is
 * trivial: vectors are not initialised implicitly, and shared memory may hold them.
 *
 * In C, the types are plain structures with the same layout. They must not be passed by value between C and C++,
 * because C++ passes them by reference.
 */
#ifndef SIMT_VECTOR_TYPES_H
#define SIMT_VECTOR_TYPES_H

#define SIMT_INLINE static inline __attribute__((always_inline))
#define SIMT_METHOD inline __attribute__((always_inline))

#ifdef __cplusplus

/** Reports, in a kernel, that a vector of 16 bytes is loaded (or stored) at an address that is not a multiple of 16. */
extern "C" void simt_fault_misaligned_vector(const void *vector, int store);

/** The type of a load or store with the given alignment; it may alias any type. */
template <int alignment>
struct simt_access_of_alignment;
template <>
struct simt_access_of_alignment<1> {
    typedef unsigned char __attribute__((may_alias)) type;
};
template <>
struct simt_access_of_alignment<2> {
    typedef unsigned short __attribute__((may_alias)) type;
};
template <>
struct simt_access_of_alignment<4> {
    typedef unsigned int __attribute__((may_alias)) type;
};
template <>
struct simt_access_of_alignment<8> {
    typedef unsigned long long __attribute__((may_alias)) type;
};
template <>
struct simt_access_of_alignment<16> {
    typedef unsigned long long __attribute__((may_alias, vector_size(16))) type;
};

/** Copies a vector in one, two or three accesses, the widest that its alignment allows. */
template <typename vector>
SIMT_INLINE void simt_copy_in_widest_accesses(vector *to, const vector *from)
{
    typedef typename simt_access_of_alignment<alignof(vector)>::type access;
    enum { ACCESSES = sizeof(vector) / sizeof(access) };

    if constexpr (sizeof(access) == 16) {
        if ((__UINTPTR_TYPE__)from % 16 != 0)
            simt_fault_misaligned_vector(from, 0);
        if ((__UINTPTR_TYPE__)to % 16 != 0)
            simt_fault_misaligned_vector(to, 1);
    }
    ((access *)to)[0] = ((const access *)from)[0];
    if constexpr (ACCESSES > 1)
        ((access *)to)[1] = ((const access *)from)[1];
    if constexpr (ACCESSES > 2)
        ((access *)to)[2] = ((const access *)from)[2];
    static_assert(ACCESSES >= 1 && ACCESSES <= 3, "");
}

/* clang-format mistakes a structure in a macro for a function. */
// clang-format off

/** The members that all vectors of two or more components share; the constructor from the components follows them. */
#define SIMT_VECTOR_COPY_FUNCTIONS_AND_CONSTRUCTOR(vector) \
    vector() = default; \
    SIMT_METHOD vector(const vector &other) { simt_copy_in_widest_accesses(this, &other); } \
    SIMT_METHOD vector &operator=(const vector &other) { simt_copy_in_widest_accesses(this, &other); return *this; } \
    SIMT_METHOD constexpr vector

#define SIMT_VECTOR_MEMBER_FUNCTIONS2(vector, component) \
    SIMT_VECTOR_COPY_FUNCTIONS_AND_CONSTRUCTOR(vector)(component a, component b) : x(a), y(b) {}
#define SIMT_VECTOR_MEMBER_FUNCTIONS3(vector, component) \
    SIMT_VECTOR_COPY_FUNCTIONS_AND_CONSTRUCTOR(vector)(component a, component b, component c) : x(a), y(b), z(c) {}
#define SIMT_VECTOR_MEMBER_FUNCTIONS4(vector, component) \
    SIMT_VECTOR_COPY_FUNCTIONS_AND_CONSTRUCTOR(vector)(component a, component b, component c, component d) \
        : x(a), y(b), z(c), w(d) {}

#else

#define SIMT_VECTOR_MEMBER_FUNCTIONS2(vector, component)
#define SIMT_VECTOR_MEMBER_FUNCTIONS3(vector, component)
#define SIMT_VECTOR_MEMBER_FUNCTIONS4(vector, component)

#endif

/**
 * Defines name1 to name4 and make_name1 to make_name4. name2 and name4 have the given alignments; the others have that
 * of a component.
 */
#define SIMT_VECTORS(name, component, align2, align4) \
    typedef struct name##1 { component x; } name##1; \
    typedef struct __attribute__((aligned(align2))) name##2 { \
        component x, y; \
        SIMT_VECTOR_MEMBER_FUNCTIONS2(name##2, component) \
    } name##2; \
    typedef struct name##3 { \
        component x, y, z; \
        SIMT_VECTOR_MEMBER_FUNCTIONS3(name##3, component) \
    } name##3; \
    typedef struct __attribute__((aligned(align4))) name##4 { \
        component x, y, z, w; \
        SIMT_VECTOR_MEMBER_FUNCTIONS4(name##4, component) \
    } name##4; \
    SIMT_INLINE name##1 make_##name##1(component x) \
    { \
        name##1 vector = {x}; \
        return vector; \
    } \
    SIMT_INLINE name##2 make_##name##2(component x, component y) \
    { \
        name##2 vector = {x, y}; \
        return vector; \
    } \
    SIMT_INLINE name##3 make_##name##3(component x, component y, component z) \
    { \
        name##3 vector = {x, y, z}; \
        return vector; \
    } \
    SIMT_INLINE name##4 make_##name##4(component x, component y, component z, component w) \
    { \
        name##4 vector = {x, y, z, w}; \
        return vector; \
    }

// clang-format on

SIMT_VECTORS(char, signed char, 2, 4)
SIMT_VECTORS(uchar, unsigned char, 2, 4)
SIMT_VECTORS(short, short, 4, 8)
SIMT_VECTORS(ushort, unsigned short, 4, 8)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTORS(uint, unsigned int, 8, 16)
SIMT_VECTORS(float, float, 8, 16)
SIMT_VECTORS(long, long, 16, 16)
SIMT_VECTORS(ulong, unsigned long, 16, 16)
SIMT_VECTORS(longlong, long long, 16, 16)
SIMT_VECTORS(ulonglong, unsigned long long, 16, 16)
SIMT_VECTORS(double, double, 16, 16)

#endif
