/**
 * @file host_atomics.c
 * @brief std::atomic in the host functions of kernel files: the hooks that the compiler's instrumentation calls in
 *        place of C++'s atomic operations. Kernels must use CUDA's atomics instead.
 */
#include "lanes/lanes.h"
#include "machine/device_limits.h"
#include "machine/fault.h"

#include <stdbool.h>
#include <stdint.h>

/** Ends the launch if a kernel calls the hook. */
#define CHECK_HOST()                                                                             \
    do {                                                                                         \
        if (simt_running.lane)                                                                   \
            simt_fault_here(cudaErrorLaunchFailure, SIMT_RETURN_ADDRESS(), "atomic of the host", \
                            "uses one of C++'s atomics; use atomicAdd() and its kin");           \
    } while (0)

#define FETCH(bits, name)                                                                                     \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, int order) \
    {                                                                                                         \
        (void)order;                                                                                          \
        CHECK_HOST();                                                                                         \
        return __atomic_##name(at, value, __ATOMIC_SEQ_CST);                                                  \
    }

#define COMPARE(bits, name)                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_##name(volatile uint##bits##_t *at, uint##bits##_t *expected, \
                                                      uint##bits##_t value, int order, int failure)          \
    {                                                                                                        \
        (void)order;                                                                                         \
        (void)failure;                                                                                       \
        CHECK_HOST();                                                                                        \
        return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
    }

/* The variant that clang calls; it returns the old value. */
#define COMPARE_VALUE(bits)                                                                                         \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *at, uint##bits##_t expected, \
                                                              uint##bits##_t value, int order, int failure)         \
    {                                                                                                               \
        (void)order;                                                                                                \
        (void)failure;                                                                                              \
        CHECK_HOST();                                                                                               \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
        return expected;                                                                                            \
    }

/* Memory orders are ignored: every operation uses the strongest order. */
#define ATOMICS(bits)                                                                                           \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)                     \
    {                                                                                                           \
        (void)order;                                                                                            \
        CHECK_HOST();                                                                                           \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                           \
    }                                                                                                           \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order)              \
    {                                                                                                           \
        (void)order;                                                                                            \
        CHECK_HOST();                                                                                           \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                          \
    }                                                                                                           \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *at, uint##bits##_t value, int order) \
    {                                                                                                           \
        (void)order;                                                                                            \
        CHECK_HOST();                                                                                           \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                \
    }                                                                                                           \
    FETCH(bits, fetch_add)                                                                                      \
    FETCH(bits, fetch_sub)                                                                                      \
    FETCH(bits, fetch_and)                                                                                      \
    FETCH(bits, fetch_or)                                                                                       \
    FETCH(bits, fetch_xor)                                                                                      \
    COMPARE(bits, strong)                                                                                       \
    COMPARE(bits, weak)                                                                                         \
    COMPARE_VALUE(bits)

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    CHECK_HOST();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
