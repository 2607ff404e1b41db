/** @file core/device_buffer.h  Device memory between guard bands, so that a write past either end is seen. */
#ifndef DEVICE_BUFFER_H
#define DEVICE_BUFFER_H

#include "base/error.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>

struct device_buffer {
    void *base;   /**< of the allocation; NULL in an empty buffer */
    void *data;   /**< what the kernel gets */
    size_t bytes; /**< usable at `data` */
};

/**
 * Allocates `bytes` (or 0), `misalign` bytes past a multiple of 256, and both guard bands. False, owning nothing, with
 * the reason.
 */
bool device_buffer_allocate(struct device_buffer *buffer, size_t bytes, size_t misalign, struct error *error);
void device_buffer_free(struct device_buffer *buffer);

/** Writes zeros, which kernels may read. */
bool device_buffer_zero(const struct device_buffer *buffer, struct error *error);

/** Fills the usable bytes with one byte value, which is for the host to find again: no kernel has written them yet. */
bool device_buffer_fill(const struct device_buffer *buffer, int byte, struct error *error);

/** Copies all usable bytes from or to host memory. */
bool device_buffer_upload(const struct device_buffer *buffer, const void *host, struct error *error);
bool device_buffer_download(const struct device_buffer *buffer, void *host, struct error *error);

/** False, naming the buffer, when a guard band was written to. */
bool device_buffer_guards_hold(const struct device_buffer *buffer, const char *name, struct error *error);

/** False, naming the buffer, when its bytes differ from `host`: a kernel wrote to its input. */
bool device_buffer_equals(const struct device_buffer *buffer, const void *host, const char *name, struct error *error);

/** "out of memory", and so on, after a failed CUDA call: what was being done and CUDA's own words. Returns false. */
bool device_error(struct error *error, const char *doing, cudaError_t status);

#endif
