/**
 * @file occupancy.c
 * @brief Computes the device's limits: the shared memory that a kernel may use, and the number of blocks resident on a
 *        multiprocessor.
 */
#include "occupancy.h"

#include "grid/blocks.h"
#include "machine/device_limits.h"
#include "machine/errors.h"
#include "machine/fault.h"

#include <stdlib.h>

static struct attributes {
    const void *kernel;
    size_t dynamic_shared;
} * attributes;
static size_t attribute_count;

static struct attributes *find_attributes(const void *kernel)
{
    for (size_t i = 0; i < attribute_count; i++) {
        if (attributes[i].kernel == kernel)
            return &attributes[i];
    }
    return NULL;
}

size_t simt_dynamic_shared_limit_bytes(const void *kernel)
{
    const struct attributes *found = find_attributes(kernel);

    return found && found->dynamic_shared > SHARED_BYTES_DEFAULT_LIMIT ? found->dynamic_shared
                                                                       : SHARED_BYTES_DEFAULT_LIMIT;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
    if (!kernel)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidDeviceFunction);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || value > SHARED_BYTES_LIMIT)
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), "cudaFuncSetAttribute", cudaErrorInvalidValue,
                                       "%d bytes of dynamic shared memory" SIMT_ADVICE_PREFIX "at most %d", value,
                                       SHARED_BYTES_LIMIT);
    if (!simt_program_find_segments() || !simt_grid_prepare_memory_once())
        return simt_fault_no_address_space();
    const size_t fixed = simt_kernel_properties(kernel).own_static_shared_bytes;

    if (fixed + (size_t)value > SHARED_BYTES_LIMIT)
        return simt_fault_runtime_call(
            SIMT_RETURN_ADDRESS(), "cudaFuncSetAttribute", cudaErrorInvalidValue,
            "%d bytes of dynamic shared memory beside %zu bytes of __shared__ variables" SIMT_ADVICE_PREFIX
            "at most %d bytes together",
            value, fixed, SHARED_BYTES_LIMIT);
    struct attributes *found = find_attributes(kernel);

    if (!found) {
        struct attributes *larger = realloc(attributes, (attribute_count + 1) * sizeof *larger);

        if (!larger)
            return SIMT_RECORD_FAILURE(cudaErrorMemoryAllocation);
        attributes = larger;
        found = &attributes[attribute_count++];
        found->kernel = kernel;
    }
    found->dynamic_shared = (size_t)value;
    return cudaSuccess;
}

/** Returns the largest number of threads with which a kernel may be launched. */
static int max_threads(const void *kernel)
{
    const uint64_t bounds = simt_kernel_properties(kernel).max_threads_per_block;

    return bounds < BLOCK_THREADS ? (int)bounds : BLOCK_THREADS;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *result, const void *kernel)
{
    if (!result)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (!kernel)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidDeviceFunction);
    if (!simt_program_find_segments() || !simt_grid_prepare_memory_once())
        return simt_fault_no_address_space();
    const struct kernel_properties properties = simt_kernel_properties(kernel);

    *result = (struct cudaFuncAttributes){.sharedSizeBytes = properties.own_static_shared_bytes,
                                          .maxThreadsPerBlock = max_threads(kernel),
                                          .ptxVersion = 90,
                                          .binaryVersion = 90,
                                          .maxDynamicSharedSizeBytes = (int)simt_dynamic_shared_limit_bytes(kernel)};
    return cudaSuccess;
}

unsigned simt_blocks_per_multiprocessor(unsigned threads_per_block, size_t dynamic_shared_bytes)
{
    const unsigned whole_warps = (threads_per_block + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    const unsigned by_threads = MULTIPROCESSOR_THREADS / whole_warps;
    const unsigned by_shared = (unsigned)(MULTIPROCESSOR_SHARED_BYTES / (dynamic_shared_bytes + SHARED_BYTES_RESERVED));
    const unsigned blocks = by_threads < by_shared ? by_threads : by_shared;

    return blocks < MULTIPROCESSOR_BLOCKS ? blocks : MULTIPROCESSOR_BLOCKS;
}

/**
 * Returns how many blocks of a kernel fit on a multiprocessor, given its static shared memory. Returns 0 if a block is
 * too large.
 */
static unsigned blocks_of_kernel(const void *kernel, int block_size, size_t dynamic_shared)
{
    const size_t fixed = simt_kernel_properties(kernel).own_static_shared_bytes;

    if (block_size > max_threads(kernel) || dynamic_shared > simt_dynamic_shared_limit_bytes(kernel) ||
        fixed + dynamic_shared > SHARED_BYTES_LIMIT)
        return 0;
    return simt_blocks_per_multiprocessor((unsigned)block_size, fixed + dynamic_shared);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int block_size,
                                                          size_t dynamic_shared)
{
    if (!blocks || block_size < 1)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (!kernel)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidDeviceFunction);
    if (!simt_program_find_segments() || !simt_grid_prepare_memory_once())
        return simt_fault_no_address_space();
    *blocks = (int)blocks_of_kernel(kernel, block_size, dynamic_shared);
    return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *kernel, int blocks, int block_size)
{
    if (!bytes || blocks < 1 || block_size < 1 || block_size > BLOCK_THREADS)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (!kernel)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidDeviceFunction);
    if ((unsigned)blocks > simt_blocks_per_multiprocessor((unsigned)block_size, 0))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (!simt_program_find_segments() || !simt_grid_prepare_memory_once())
        return simt_fault_no_address_space();
    const size_t each = MULTIPROCESSOR_SHARED_BYTES / (size_t)blocks - SHARED_BYTES_RESERVED;
    const size_t most = each < SHARED_BYTES_LIMIT ? each : SHARED_BYTES_LIMIT;
    const size_t fixed = simt_kernel_properties(kernel).own_static_shared_bytes;

    *bytes = most > fixed ? most - fixed : 0;
    return cudaSuccess;
}
