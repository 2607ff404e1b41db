/**
 * @file cuda_pipeline.h
 * @brief CUDA's asynchronous copies from global to shared memory for kernels: functions to issue copies, to commit them
 *        as a group, and to wait.
 */
#ifndef SIMT_CUDA_PIPELINE_H
#define SIMT_CUDA_PIPELINE_H

#include "cuda_runtime.h"

/** Copies 4, 8 or 16 bytes asynchronously. The last `zfill` bytes are not read but zero-filled. */
SIMT_DEVICE void __pipeline_memcpy_async(void *dst_shared, const void *src_global, size_t size_and_align,
                                         size_t zfill = 0)
{
    simt_copy_async(dst_shared, src_global, size_and_align, zfill);
}

/** Commits, as one group, the copies that the thread has issued since its last commit. */
SIMT_DEVICE void __pipeline_commit(void)
{
    simt_async_copies_commit();
}

/** Waits until all of the thread's groups except the last `prior` are complete. */
SIMT_DEVICE void __pipeline_wait_prior(size_t prior)
{
    simt_async_copies_wait(prior);
}

#endif
