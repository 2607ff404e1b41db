/**
 * @file common/kernels/launch_coresident.cuh
 * @brief Launches blocks that wait for each other. Used by chapter 15.
 *
 * The CPU build uses the header of the same name in common/simt/kernels instead.
 */
#ifndef KERNELS_LAUNCH_CORESIDENT_CUH
#define KERNELS_LAUNCH_CORESIDENT_CUH

#include "kernels/all_coresident.cuh"
#include "kernels/overlap.cuh"

// [launch_known_coresident]
/**
 * Launches blocks that can all be co-resident, as all_coresident() has checked. A GPU starts every block that fits, so
 * a plain launch suffices, which is faster than a cooperative launch. If another stream's kernel occupies the GPU, the
 * blocks wait until it ends; if that kernel also waits for blocks that have not started, both kernels may give up after
 * MAX_POLLS polls.
 */
template <typename... Parameters, typename... Given>
static cudaError_t launch_known_coresident(bool overlap, void (*kernel)(Parameters...), unsigned blocks,
                                           unsigned threads, cudaStream_t stream, Given... arguments)
{
    return launch_overlapping(overlap, kernel, blocks, threads, 0, stream, arguments...);
}
// [launch_known_coresident]

#endif
