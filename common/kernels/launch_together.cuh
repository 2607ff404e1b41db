/**
 * @file common/kernels/launch_together.cuh
 * @brief Chapter 15's launch of blocks that wait for each other.
 *
 * The CPU build has a header of its own in common/simt/kernels, which it finds first.
 */
#ifndef KERNELS_LAUNCH_TOGETHER_CUH
#define KERNELS_LAUNCH_TOGETHER_CUH

#include "kernels/all_fit.cuh"

// [launch_together]
/**
 * Launches blocks that all_fit() has found room for. A GPU starts every block that it has room for, so a plain launch
 * is enough, and a cooperative one is slower. If another stream's kernel occupies the room, the blocks wait until it
 * ends. If that kernel waits in the same way, with some of its blocks not started, both give up after MAX_POLLS polls.
 */
template <typename... Parameters, typename... Given>
static cudaError_t launch_together(void (*kernel)(Parameters...), int blocks, int threads, cudaStream_t stream,
                                   Given... arguments)
{
    cudaLaunchConfig_t how = {};

    how.gridDim = blocks;
    how.blockDim = threads;
    how.stream = stream;
    return cudaLaunchKernelEx(&how, kernel, arguments...);
}
// [launch_together]

#endif
