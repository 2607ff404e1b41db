/** @file device_arrays.h  Device arrays for tests that run on the simulator and on a GPU; errors end the program. */
#ifndef TESTS_DEVICE_ARRAYS_H
#define TESTS_DEVICE_ARRAYS_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

/** Ends the program if a CUDA call has failed. */
static void check_cuda(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("Bail out! %s\n", cudaGetErrorString(error));
    exit(1);
}

/** Copies elements to a new device array, which the caller passes to download_and_free() or frees. */
template <class T>
static T *allocate_and_upload(const T *host, size_t count)
{
    T *device;

    check_cuda(cudaMalloc((void **)&device, count * sizeof(T)));
    check_cuda(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

/** Copies a device array to the host after checking the last launch, and frees it. */
template <class T>
static void download_and_free(T *host, T *device, size_t count)
{
    check_cuda(cudaGetLastError());
    check_cuda(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
    check_cuda(cudaFree(device));
}

/** Returns the architecture that a kernel was compiled for, such as 80 for sm_80; it may be older than the GPU. */
static int compiled_architecture_of(const void *kernel)
{
#ifdef __CUDACC__
    cudaFuncAttributes attributes;

    check_cuda(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.ptxVersion;
#else
    return kernel ? 90 : 0; /* the simulator supports the features of sm_90 */
#endif
}

#endif
