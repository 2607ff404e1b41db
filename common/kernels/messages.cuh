/**
 * @file common/kernels/messages.cuh
 * @brief Loads and stores of global memory that order what is around them, for all threads of the device.
 *
 * Accesses before the release of a value happen before those after its acquire. The CPU build has its own header in
 * common/simt/kernels, which it finds first.
 */
#ifndef KERNELS_MESSAGES_CUH
#define KERNELS_MESSAGES_CUH

#include <cuda_runtime.h>

// [messages]
/** Loads a value and acquires it: accesses before the value's release happen before the thread's later accesses. */
static __device__ __forceinline__ int load_acquire(const int *address)
{
    int value;

    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

/** Stores a value and releases it: the thread's earlier accesses happen before those that follow an acquire. */
static __device__ __forceinline__ void store_release(int *address, int value)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/** Adds atomically and releases: the thread's earlier accesses happen before those that follow an acquire. */
static __device__ __forceinline__ void add_release(int *address, int value)
{
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/** Adds atomically, with release and acquire. Returns the previous value. */
static __device__ __forceinline__ int add_acquire_release(int *address, int value)
{
    int before;

    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], %2;" : "=r"(before) : "l"(address), "r"(value) : "memory");
    return before;
}
// [messages]

#endif
