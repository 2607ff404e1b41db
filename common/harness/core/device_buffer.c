#include "harness/core/device_buffer.h"

#include "harness/core/backend.h"

#include <string.h>

enum { GUARD_BYTES = 1024, GUARD_VALUE = 0xc3 };

bool device_error(struct error *error, const char *doing, cudaError_t status)
{
    return error_set_as(error, RUN_NO_DEVICE, "%s: %s", doing, cudaGetErrorString(status));
}

bool device_buffer_allocate(struct device_buffer *buffer, size_t bytes, size_t misalign, struct error *error)
{
    const size_t before = GUARD_BYTES + misalign; /* the first guard band ends where the data begins */
    cudaError_t status;

    memset(buffer, 0, sizeof *buffer);
    status = cudaMalloc(&buffer->base, before + bytes + GUARD_BYTES);
    if (status != cudaSuccess) {
        buffer->base = NULL;
        cudaGetLastError(); /* the next call starts clean */
        return error_set_as(error, RUN_NO_DEVICE, "%zu bytes of device memory: %s", bytes, cudaGetErrorString(status));
    }
    buffer->data = (char *)buffer->base + before;
    buffer->bytes = bytes;

    char *const after = (char *)buffer->data + bytes;

    status = cudaMemset(buffer->base, GUARD_VALUE, before);
    if (status == cudaSuccess)
        status = cudaMemset(after, GUARD_VALUE, GUARD_BYTES);
    if (status != cudaSuccess) {
        device_buffer_free(buffer);
        return device_error(error, "filling guard bands", status);
    }
    backend_forbid(buffer->base, before);
    backend_forbid(after, GUARD_BYTES);
    return true;
}

void device_buffer_free(struct device_buffer *buffer)
{
    cudaFree(buffer->base);
    memset(buffer, 0, sizeof *buffer);
}

bool device_buffer_fill(const struct device_buffer *buffer, int byte, struct error *error)
{
    const cudaError_t status = buffer->bytes ? cudaMemset(buffer->data, byte, buffer->bytes) : cudaSuccess;

    return status == cudaSuccess || device_error(error, "filling a buffer", status);
}

bool device_buffer_upload(const struct device_buffer *buffer, const void *host, struct error *error)
{
    const cudaError_t status = buffer->bytes ? cudaMemcpy(buffer->data, host, buffer->bytes, cudaMemcpyHostToDevice)
                                             : cudaSuccess;

    return status == cudaSuccess || device_error(error, "copying to the device", status);
}

bool device_buffer_download(const struct device_buffer *buffer, void *host, struct error *error)
{
    const cudaError_t status = buffer->bytes ? cudaMemcpy(host, buffer->data, buffer->bytes, cudaMemcpyDeviceToHost)
                                             : cudaSuccess;

    return status == cudaSuccess || device_error(error, "copying from the device", status);
}

bool device_buffer_guards_hold(const struct device_buffer *buffer, const char *name, struct error *error)
{
    unsigned char guards[2 * GUARD_BYTES];
    cudaError_t status = cudaMemcpy(guards, (char *)buffer->data - GUARD_BYTES, GUARD_BYTES, cudaMemcpyDeviceToHost);

    if (status == cudaSuccess)
        status = cudaMemcpy(guards + GUARD_BYTES, (char *)buffer->data + buffer->bytes, GUARD_BYTES,
                            cudaMemcpyDeviceToHost);
    if (status != cudaSuccess)
        return device_error(error, "reading guard bands", status);
    for (int i = 0; i < 2 * GUARD_BYTES; i++)
        if (guards[i] != GUARD_VALUE)
            return i < GUARD_BYTES
                       ? error_set_as(error, RUN_WRONG, "%s: written %d bytes before its start", name, GUARD_BYTES - i)
                       : error_set_as(error, RUN_WRONG, "%s: written %d bytes past its end", name, i - GUARD_BYTES + 1);
    return true;
}

bool device_buffer_equals(const struct device_buffer *buffer, const void *host, const char *name, struct error *error)
{
    unsigned char piece[1 << 18]; /* no copy of the whole: inputs are large */

    for (size_t done = 0, bytes; done < buffer->bytes; done += bytes) {
        bytes = buffer->bytes - done < sizeof piece ? buffer->bytes - done : sizeof piece;

        const cudaError_t status = cudaMemcpy(piece, (char *)buffer->data + done, bytes, cudaMemcpyDeviceToHost);

        if (status != cudaSuccess)
            return device_error(error, "copying from the device", status);
        if (memcmp(piece, (const char *)host + done, bytes) != 0)
            return error_set_as(error, RUN_WRONG, "%s: the kernel wrote to its input", name);
    }
    return true;
}
