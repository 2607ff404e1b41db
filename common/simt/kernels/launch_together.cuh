/**
 * @file common/simt/kernels/launch_together.cuh
 * @brief Chapter 15's launch of blocks that wait for each other: the simulator needs a cooperative launch for that.
 */
#ifndef SIMT_KERNELS_LAUNCH_TOGETHER_CUH
#define SIMT_KERNELS_LAUNCH_TOGETHER_CUH

#include "kernels/all_fit.cuh"

/** Launches blocks that all_fit() has found to fit. */
template <typename... Parameters, typename... Given>
static cudaError_t launch_together(void (*kernel)(Parameters...), int blocks, int threads, cudaStream_t stream,
                                   Given... arguments)
{
    cudaLaunchAttribute cooperative = {cudaLaunchAttributeCooperative, {1}};
    cudaLaunchConfig_t how = {};

    how.gridDim = dim3(blocks);
    how.blockDim = dim3(threads);
    how.stream = stream;
    how.attrs = &cooperative;
    how.numAttrs = 1;
    return cudaLaunchKernelEx(&how, kernel, arguments...);
}

#endif
