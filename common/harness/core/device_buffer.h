/** @file core/device_buffer.h  Device memory between guard bands, which detect writes past either end. */
#ifndef DEVICE_BUFFER_H
#define DEVICE_BUFFER_H

#include "base/error.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

struct device_buffer {
    void *base;   /**< start of the allocation; NULL in an empty buffer */
    void *data;   /**< address for the kernel */
    size_t bytes; /**< size of the data */
};

/**
 * Allocates `bytes` bytes (may be 0), starting `misalign_bytes` bytes past a multiple of 256, and both guard bands.
 * `name` appears in messages. On failure, frees everything, returns false and sets *error.
 */
bool device_buffer_allocate(struct device_buffer *buffer, const char *name, size_t bytes, size_t misalign_bytes,
                            struct error *error);
void device_buffer_free(struct device_buffer *buffer);

/** Fills the data with zeros, which count as written, so that kernels may read them. */
bool device_buffer_zero(const struct device_buffer *buffer, struct error *error);

/** Fills the data with poison. Until a kernel has written the data, only the host may read it. */
bool device_buffer_poison(const struct device_buffer *buffer, int poison_byte, struct error *error);

/** Copies all of the data from host memory to the buffer, or back. */
bool device_buffer_upload(const struct device_buffer *buffer, const void *host, struct error *error);
bool device_buffer_download(const struct device_buffer *buffer, void *host, struct error *error);

/** Checks both guard bands. If either was overwritten, returns false with an error that names the buffer. */
bool device_buffer_check_guards(const struct device_buffer *buffer, const char *name, struct error *error);

/** Compares the data with `host`. If they differ, the error says that a kernel wrote to the input `name`. */
bool device_buffer_check_unchanged(const struct device_buffer *buffer, const void *host, const char *name,
                                   struct error *error);

/**
 * Sets the error for a failed CUDA call: the operation (`operation`) and CUDA's message or the simulator's fault.
 * Returns false.
 */
bool error_set_cuda_failure(struct error *error, const char *operation, cudaError_t status);

#endif
