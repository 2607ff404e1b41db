/**
 * @file common/kernels/messages.cuh
 * @brief Loads and stores with acquire and release semantics at device scope; chapters 16a and 16b use them.
 *
 * Accesses before the release of a value happen before accesses after its acquire. The CPU build uses the header of the
 * same name in common/simt/kernels instead.
 */
#ifndef KERNELS_MESSAGES_CUH
#define KERNELS_MESSAGES_CUH

#include <cuda_runtime.h>

// [messages]
/** Loads a value with acquire semantics: accesses before its release happen before this thread's later accesses. */
static __device__ __forceinline__ int load_acquire(const int *address)
{
    int value;

    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

/**
 * Stores a value with release semantics: this thread's earlier accesses happen before those that follow an acquire of
 * the value.
 */
static __device__ __forceinline__ void store_release(int *address, int value)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/**
 * Adds atomically, with release semantics: this thread's earlier accesses happen before those that follow an acquire of
 * the sum.
 */
static __device__ __forceinline__ void add_release(int *address, int value)
{
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/** Adds atomically, with acquire and release semantics. Returns the previous value. */
static __device__ __forceinline__ int add_acquire_release(int *address, int value)
{
    int before;

    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], %2;" : "=r"(before) : "l"(address), "r"(value) : "memory");
    return before;
}
// [messages]

#endif
