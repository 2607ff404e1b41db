/**
 * @file common/simt/kernels/launch_coresident.cuh
 * @brief Chapter 15's launch of blocks that wait for each other, which in the simulator must be a cooperative launch.
 */
#ifndef SIMT_KERNELS_LAUNCH_CORESIDENT_CUH
#define SIMT_KERNELS_LAUNCH_CORESIDENT_CUH

#include "kernels/all_coresident.cuh"
#include "kernels/overlap.cuh"

/** Launches blocks that can all be resident at once, as all_coresident() has checked. */
template <typename... Parameters, typename... Given>
static cudaError_t launch_known_coresident(bool overlap, void (*kernel)(Parameters...), unsigned blocks,
                                           unsigned threads, cudaStream_t stream, Given... arguments)
{
    return launch_cooperative(overlap, kernel, blocks, threads, 0, stream, arguments...);
}

#endif
