/** @file gpu/floor.cu  An empty kernel, whose time is the minimum for a launch. */
#include "harness/gpu/floor.h"

static __global__ void empty_kernel(void)
{
}

cudaError_t floor_launch_empty(cudaStream_t stream)
{
    empty_kernel<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

bool floor_kernel_runs(void)
{
    cudaError_t status = floor_launch_empty(NULL);

    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    cudaGetLastError(); /* clears the error, so that the next call does not return it */
    return status == cudaSuccess;
}

cudaError_t floor_compiled_for(int *architecture)
{
    struct cudaFuncAttributes attributes = {};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, empty_kernel);

    *architecture = attributes.ptxVersion; /* not binaryVersion, because the driver may have compiled PTX */
    return status;
}
