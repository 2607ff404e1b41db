/** @file gpu/read.h  A kernel that reads memory at the highest rate, for backend_measure_read_bandwidth(). */
#ifndef READ_H
#define READ_H

#include <cuda_runtime.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Size in bytes of a chunk, which a single bulk copy reads. The size of the memory must be a multiple of this size. */
enum { READ_CHUNK_BYTES = 16384 };

/** Launches a kernel that reads `bytes` bytes of device memory, 128-byte aligned, and discards them. */
cudaError_t read_memory_launch(const void *source, size_t bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
