#include "harness/core/device_buffer.h"

#include "base/memory.h"
#include "harness/core/backend.h"

#include <stdio.h>
#include <string.h>

enum { GUARD_BYTES = 1024, GUARD_VALUE = 0xc3 };

bool error_set_cuda_failure(struct error *error, const char *operation, cudaError_t status)
{
    const char *const fault = backend_fault_message();

    return error_set_as(error, RUN_CANNOT_RUN, "%s: %s", operation, fault ? fault : cudaGetErrorString(status));
}

/**
 * Checks the status of a CUDA call. If the call failed, sets the error with error_set_cuda_failure() and returns false.
 */
static bool is_done(cudaError_t status, const char *doing, struct error *error)
{
    return status == cudaSuccess || error_set_cuda_failure(error, doing, status);
}

bool device_buffer_allocate(struct device_buffer *buffer, const char *name, size_t bytes, size_t misalign_bytes,
                            struct error *error)
{
    const size_t before = GUARD_BYTES + misalign_bytes; /* the first guard band ends where the data begins */
    char *base, *after, doing[96], size[24];
    cudaError_t status;

    *buffer = (struct device_buffer){0};
    status = cudaMalloc((void **)&base, before + bytes + GUARD_BYTES);
    if (status != cudaSuccess) {
        cudaGetLastError(); /* clears the error, so that the next call does not return it */
        snprintf(doing, sizeof doing, "%s: %s of device memory", name, format_bytes(bytes, size));
        return error_set_cuda_failure(error, doing, status);
    }
    after = base + before + bytes;
    *buffer = (struct device_buffer){base, base + before, bytes};
    status = cudaMemset(base, GUARD_VALUE, before);
    if (status == cudaSuccess)
        status = cudaMemset(after, GUARD_VALUE, GUARD_BYTES);
    if (status != cudaSuccess) {
        device_buffer_free(buffer);
        return error_set_cuda_failure(error, "filling guard bands", status);
    }
    backend_register_array_bounds(buffer->data, bytes, name);
    return true;
}

void device_buffer_free(struct device_buffer *buffer)
{
    cudaFree(buffer->base);
    *buffer = (struct device_buffer){0};
}

static bool set_bytes(const struct device_buffer *buffer, int byte, struct error *error)
{
    return !buffer->bytes || is_done(cudaMemset(buffer->data, byte, buffer->bytes), "filling a buffer", error);
}

bool device_buffer_zero(const struct device_buffer *buffer, struct error *error)
{
    return set_bytes(buffer, 0, error);
}

bool device_buffer_poison(const struct device_buffer *buffer, int poison_byte, struct error *error)
{
    if (!set_bytes(buffer, poison_byte, error))
        return false;
    backend_mark_unwritten(buffer->data, buffer->bytes);
    return true;
}

bool device_buffer_upload(const struct device_buffer *buffer, const void *host, struct error *error)
{
    return !buffer->bytes || is_done(cudaMemcpy(buffer->data, host, buffer->bytes, cudaMemcpyHostToDevice),
                                     "copying to the device", error);
}

bool device_buffer_download(const struct device_buffer *buffer, void *host, struct error *error)
{
    return !buffer->bytes || is_done(cudaMemcpy(host, buffer->data, buffer->bytes, cudaMemcpyDeviceToHost),
                                     "copying from the device", error);
}

bool device_buffer_check_guards(const struct device_buffer *buffer, const char *name, struct error *error)
{
    unsigned char guards[2 * GUARD_BYTES];
    cudaError_t status = cudaMemcpy(guards, (char *)buffer->data - GUARD_BYTES, GUARD_BYTES, cudaMemcpyDeviceToHost);

    if (status == cudaSuccess)
        status = cudaMemcpy(guards + GUARD_BYTES, (char *)buffer->data + buffer->bytes, GUARD_BYTES,
                            cudaMemcpyDeviceToHost);
    if (status != cudaSuccess)
        return error_set_cuda_failure(error, "reading guard bands", status);
    for (int i = 0; i < 2 * GUARD_BYTES; i++)
        if (guards[i] != GUARD_VALUE)
            return i < GUARD_BYTES
                       ? error_set_as(error, RUN_WRONG, "%s: written %d bytes before its start", name, GUARD_BYTES - i)
                       : error_set_as(error, RUN_WRONG, "%s: written %d bytes past its end", name, i - GUARD_BYTES + 1);
    return true;
}

bool device_buffer_check_unchanged(const struct device_buffer *buffer, const void *host, const char *name,
                                   struct error *error)
{
    unsigned char piece[1 << 18]; /* inputs are large, so they are compared in chunks */

    for (size_t done = 0, bytes; done < buffer->bytes; done += bytes) {
        bytes = buffer->bytes - done < sizeof piece ? buffer->bytes - done : sizeof piece;
        if (!is_done(cudaMemcpy(piece, (char *)buffer->data + done, bytes, cudaMemcpyDeviceToHost),
                     "copying from the device", error))
            return false;
        if (memcmp(piece, (const char *)host + done, bytes) != 0)
            return error_set_as(error, RUN_WRONG, "%s: the kernel wrote to its input", name);
    }
    return true;
}
