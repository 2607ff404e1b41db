/** @file common/kernels/all_fit.cuh  Checks before launch_together() whether blocks can wait for each other. */
#ifndef KERNELS_ALL_FIT_CUH
#define KERNELS_ALL_FIT_CUH

#include <cuda_runtime.h>

// [all_fit]
/**
 * Sets *fit to true if `blocks` blocks of the kernel, without dynamic shared memory, fit on the device at once.
 */
template <typename... Parameters>
static cudaError_t all_fit(void (*kernel)(Parameters...), int blocks, int threads, bool *fit)
{
    int device, processors = 0, each = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0);
    *fit = blocks <= processors * each;
    return status;
}
// [all_fit]

#endif
