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
static cudaError_t reject_wait(const char *name, uintptr_t call_site)
{
    return simt_fault_runtime_call(call_site, name, cudaErrorStreamCaptureUnsupported,
                                   "a stream is being captured, and nothing is executed" SIMT_ADVICE_PREFIX
                                   "cudaStreamEndCapture() and cudaGraphLaunch() first");
}

cudaError_t cudaDeviceSynchronize(void)
{
    const cudaError_t error = simt_check_call_permitted("cudaDeviceSynchronize", CAPTURE_HAZARD_NONE,
                                                        SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    if (simt_capture_in_progress())
        return reject_wait("cudaDeviceSynchronize", SIMT_RETURN_ADDRESS());
    simt_check_work_uses_no_returned_locals(SIMT_CALLER_STACK_POINTER());
    simt_record_host_wait_for_all_work();
    return simt_peek_error_blocking_launches();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    SIMT_HOLD_HOST_LOCK;
    if (!stream || flags > cudaStreamNonBlocking)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    const size_t number = simt_stream_find_or_add_unused_number();

    if (number == MAX_HANDLES)
        return SIMT_RECORD_FAILURE(cudaErrorMemoryAllocation);
    simt_record_uses_for_second_stream();
    struct stream_state *slot = &simt_streams[number];

    free(slot->clock.positions);
    free(slot->latest_launches.launches);
    *slot = (struct stream_state){.handle_generation = slot->handle_generation + 1,
                                  .is_alive = true,
                                  .syncs_with_legacy_default = flags != cudaStreamNonBlocking,
                                  .latest_work_position = slot->latest_work_position,
                                  .snapshot_position = simt_latest_work_position};
    *stream = (cudaStream_t)simt_make_handle(number, slot->handle_generation, HANDLE_KIND_STREAM);
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

    if (number == MAX_HANDLES || number < FIRST_CREATED_STREAM)
        return simt_report_invalid_handle("cudaStreamDestroy", "stream", SIMT_RETURN_ADDRESS());
    simt_streams[number].is_alive = false;
    return cudaSuccess;
}

/**
 * Rejects a call that waits for or queries a stream whose work is being captured and therefore not executed, or the
 * legacy default stream while a stream that synchronises with it is being captured.
 */
static cudaError_t captured(const char *name, cudaStream_t stream, uintptr_t call_site)
{
    const cudaError_t error = simt_check_call_permitted(name, capture_hazard_of_submitting_to(stream), call_site);

    return error == cudaSuccess && simt_stream_is_capturing(stream) ? reject_wait(name, call_site) : error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (simt_stream_number(stream) == MAX_HANDLES)
        return simt_report_invalid_handle("cudaStreamSynchronize", "stream", SIMT_RETURN_ADDRESS());
    const cudaError_t error = captured("cudaStreamSynchronize", stream, SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    simt_check_work_uses_no_returned_locals(SIMT_CALLER_STACK_POINTER());
    simt_record_host_wait_for_stream(stream);
    return simt_peek_error_blocking_launches();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const size_t number = simt_stream_number(stream);

    if (number == MAX_HANDLES)
        return simt_report_invalid_handle("cudaStreamQuery", "stream", SIMT_RETURN_ADDRESS());
    const cudaError_t error = captured("cudaStreamQuery", stream, SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    return simt_query_stream_clock(simt_stream_current_clock(number), &simt_streams[number].has_returned_not_ready);
}
