/**
 * @file common/kernels/messages.cuh
 * @brief Loads and stores of global memory that order what is around them, for all threads of the device.
 *
 * Whoever acquires a value sees what was done before it was released. The CPU build has a header of its own in
 * common/simt/kernels, which it finds first.
 */
#ifndef KERNELS_MESSAGES_CUH
#define KERNELS_MESSAGES_CUH

#include <cuda_runtime.h>

// [messages]
/** What comes behind it sees what was done before the value was released. */
static __device__ __forceinline__ int load_acquire(const int *address)
{
    int value;

    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return value;
}

/** What came before it is seen by whoever acquires the value. */
static __device__ __forceinline__ void store_release(int *address, int value)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/** Adds atomically; what came before is seen by whoever acquires the sum. */
static __device__ __forceinline__ void add_release(int *address, int value)
{
    asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/** Adds atomically, releases and acquires; the value before. */
static __device__ __forceinline__ int add_acquire_release(int *address, int value)
{
    int before;

    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], %2;" : "=r"(before) : "l"(address), "r"(value) : "memory");
    return before;
}
// [messages]

#endif
