/** @file gpu/empty_kernel.cu  An empty kernel, whose time is the minimum for a launch. */
#include "harness/gpu/empty_kernel.h"

static __global__ void empty_kernel(void)
{
}

cudaError_t empty_kernel_launch(cudaStream_t stream)
{
    empty_kernel<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

bool device_can_run_kernels(void)
{
    cudaError_t status = empty_kernel_launch(NULL);

    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    cudaGetLastError(); /* clears the error, so that the next call does not return it */
    return status == cudaSuccess;
}

cudaError_t kernels_compiled_architecture(int *architecture)
{
    struct cudaFuncAttributes attributes = {};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, empty_kernel);

    *architecture = attributes.ptxVersion; /* not binaryVersion, because the driver may have compiled PTX */
    return status;
}
