/**
 * @file streams.c
 * @brief CUDA's stream functions and cudaDeviceSynchronize().
 */
#include "graphs.h"
#include "machine/device_limits.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "order/stream_table.h"
#include "order/stream_work.h"
#include "machine/host_threads.h"

#include <stdlib.h>

/** Rejects a wait while a stream is being captured. */
static cudaError_t reject_wait(const char *name, uintptr_t caller)
{
    return simt_fault_call(caller, name, cudaErrorStreamCaptureUnsupported,
                           "a stream is being captured, and nothing is executed" SIMT_TRY
                           "cudaStreamEndCapture() and cudaGraphLaunch() first");
}

cudaError_t cudaDeviceSynchronize(void)
{
    const cudaError_t error = simt_permit("cudaDeviceSynchronize", CALL_SIMPLE, SIMT_CALLER());

    if (error != cudaSuccess)
        return error;
    if (simt_is_capturing())
        return reject_wait("cudaDeviceSynchronize", SIMT_CALLER());
    simt_check_locals(SIMT_CALLERS_STACK());
    simt_host_waits_for_all();
    return simt_sticky_error();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    SIMT_ONE_HOST_THREAD;
    if (!stream || flags > cudaStreamNonBlocking)
        return SIMT_FAIL(cudaErrorInvalidValue);
    const size_t number = simt_idle_stream();

    if (number == NUMBERS)
        return SIMT_FAIL(cudaErrorMemoryAllocation);
    simt_prepare_several_streams();
    struct stream *slot = &simt_streams[number];

    free(slot->clock.position);
    free(slot->launches.launch);
    *slot = (struct stream){.generation = slot->generation + 1,
                            .alive = true,
                            .blocking = flags != cudaStreamNonBlocking,
                            .last = slot->last,
                            .published = simt_latest_work};
    *stream = (cudaStream_t)simt_handle_of(number, slot->generation, HANDLE_STREAM);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

/** Destroys a stream; its pending work continues. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const size_t number = simt_stream_number(stream);

    if (number == NUMBERS || number < FIRST_OWN)
        return simt_reject_handle("cudaStreamDestroy", "stream", SIMT_CALLER());
    simt_streams[number].alive = false;
    return cudaSuccess;
}

/**
 * Rejects a call that waits for or queries a stream whose work is being captured and therefore not executed, or the
 * legacy default stream while a stream that synchronises with it is being captured.
 */
static cudaError_t captured(const char *name, cudaStream_t stream, uintptr_t caller)
{
    const cudaError_t error = simt_permit(name, call_of_stream(stream), caller);

    return error == cudaSuccess && simt_captures(stream) ? reject_wait(name, caller) : error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (simt_stream_number(stream) == NUMBERS)
        return simt_reject_handle("cudaStreamSynchronize", "stream", SIMT_CALLER());
    const cudaError_t error = captured("cudaStreamSynchronize", stream, SIMT_CALLER());

    if (error != cudaSuccess)
        return error;
    simt_check_locals(SIMT_CALLERS_STACK());
    simt_host_waits(stream);
    return simt_sticky_error();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const size_t number = simt_stream_number(stream);

    if (number == NUMBERS)
        return simt_reject_handle("cudaStreamQuery", "stream", SIMT_CALLER());
    const cudaError_t error = captured("cudaStreamQuery", stream, SIMT_CALLER());

    if (error != cudaSuccess)
        return error;
    return simt_work_query(simt_stream_publish(number), &simt_streams[number].queried);
}
