/**
 * @file common/kernels/overlap.cuh
 * @brief Launches kernels whose blocks may start before the stream's previous kernel has ended, as chapter 17 explains.
 */
#ifndef KERNELS_OVERLAP_CUH
#define KERNELS_OVERLAP_CUH

#include <cuda_runtime.h>

// [wait_and_trigger]
/**
 * Waits until the stream's previous kernel has ended and its writes are visible; without overlap, returns at once. Must
 * precede loads of data that an earlier kernel writes, and stores to data that an earlier kernel reads or writes.
 */
static __device__ __forceinline__ void wait_for_previous_kernel(void)
{
#ifdef TRIGGER_FIRST /* for one of chapter 17's programs, which shows why the other order is better */
    cudaTriggerProgrammaticLaunchCompletion();
#endif
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/**
 * Lets the blocks of the stream's next kernel start, if that kernel is launched with overlap, once every block of this
 * kernel has called this function or ended. The call orders no memory accesses.
 */
static __device__ __forceinline__ void let_next_kernel_start(void)
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
// [wait_and_trigger]

// [launch_overlapping]
/**
 * Launches a kernel with the requested attributes: overlap with the previous kernel, a cooperative grid, or both.
 */
template <typename... Parameters, typename... Given>
static cudaError_t launch_with(bool overlap, bool cooperative, void (*kernel)(Parameters...), dim3 blocks,
                               unsigned threads, size_t shared_bytes, cudaStream_t stream, Given... arguments)
{
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};

    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    // [attributes]
    if (overlap) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (cooperative) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    return cudaLaunchKernelEx(&config, kernel, arguments...);
    // [attributes]
}
// [launch_overlapping]

// [launch_wrappers]
/**
 * Launches a kernel. With `overlap`, its blocks may start as soon as the previous kernel's blocks have called
 * let_next_kernel_start().
 */
template <typename... Parameters, typename... Given>
static cudaError_t launch_overlapping(bool overlap, void (*kernel)(Parameters...), dim3 blocks, unsigned threads,
                                      size_t shared_bytes, cudaStream_t stream, Given... arguments)
{
    return launch_with(overlap, false, kernel, blocks, threads, shared_bytes, stream, arguments...);
}

/**
 * Launches a kernel whose blocks wait for each other. Fails if the blocks do not all fit on the device at the same
 * time.
 */
template <typename... Parameters, typename... Given>
static cudaError_t launch_cooperative(bool overlap, void (*kernel)(Parameters...), dim3 blocks, unsigned threads,
                                      size_t shared_bytes, cudaStream_t stream, Given... arguments)
{
    return launch_with(overlap, true, kernel, blocks, threads, shared_bytes, stream, arguments...);
}
// [launch_wrappers]

#endif
