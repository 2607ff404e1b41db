/**
 * @file common/simt/kernels/messages.cuh
 * @brief Acquire loads and release stores, implemented as volatile accesses or atomics with fences. Replaces
 *        common/kernels/messages.cuh, because this directory is searched first.
 */
#ifndef SIMT_MESSAGES_CUH
#define SIMT_MESSAGES_CUH

#include <cuda_runtime.h>

SIMT_DEVICE int load_acquire(const int *address)
{
    const int value = *(const volatile int *)address;

    __threadfence();
    return value;
}

SIMT_DEVICE void store_release(int *address, int value)
{
    __threadfence();
    *(volatile int *)address = value;
}

SIMT_DEVICE void add_release(int *address, int value)
{
    __threadfence();
    atomicAdd(address, value);
}

SIMT_DEVICE int add_acquire_release(int *address, int value)
{
    __threadfence();
    const int before = atomicAdd(address, value);

    __threadfence();
    return before;
}

#endif
