/**
 * @file common/kernels/all_coresident.cuh Checks whether all blocks of a launch can be co-resident, so that they may
 * wait for each other. Must be called before launch_known_coresident().
 */
#ifndef KERNELS_ALL_CORESIDENT_CUH
#define KERNELS_ALL_CORESIDENT_CUH

#include <cuda_runtime.h>

// [all_coresident]
/**
 * Sets *fit to whether `blocks` blocks of the kernel, without dynamic shared memory, fit on the device at the same
 * time.
 */
template <typename... Parameters>
static cudaError_t all_coresident(void (*kernel)(Parameters...), int blocks, int threads, bool *fit)
{
    int device, multiprocessors = 0, blocks_per_multiprocessor = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, kernel, threads, 0);
    *fit = blocks <= multiprocessors * blocks_per_multiprocessor;
    return status;
}
// [all_coresident]

#endif
