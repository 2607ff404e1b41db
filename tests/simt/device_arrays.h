/** @file device_arrays.h  Arrays of tests that a GPU runs as well as the simulator; whatever fails ends the program. */
#ifndef TESTS_DEVICE_ARRAYS_H
#define TESTS_DEVICE_ARRAYS_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

/** What a call of CUDA's says; anything but success ends the program. */
static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("Bail out! %s\n", cudaGetErrorString(error));
    exit(1);
}

/** The same elements on the device, to be given to from_device() or freed. */
template <class T>
static T *to_device(const T *host, size_t count)
{
    T *device;

    check(cudaMalloc((void **)&device, count * sizeof(T)));
    check(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

/** Fetches what kernels have left there, and frees it. */
template <class T>
static void from_device(T *host, T *device, size_t count)
{
    check(cudaGetLastError());
    check(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
    check(cudaFree(device));
}

/** What a kernel of this program was compiled for, 80 for sm_80: it may be less than the GPU's capability. */
static int compiled_for(const void *kernel)
{
#ifdef __CUDACC__
    cudaFuncAttributes attributes;

    check(cudaFuncGetAttributes(&attributes, kernel));
    return attributes.ptxVersion;
#else
    return kernel ? 90 : 0; /* the simulator has what sm_90 has */
#endif
}

#endif
