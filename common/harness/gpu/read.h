/** @file gpu/read.h  Reading memory as fast as a GPU can. */
#ifndef READ_H
#define READ_H

#include <cuda_runtime.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is read at once: the bytes must be a multiple of it. */
enum { READ_PIECE = 16384 };

/** Launches a kernel that reads so many bytes of device memory, 128-byte aligned, once, and does nothing with them. */
cudaError_t read_launch(const void *from, size_t bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
