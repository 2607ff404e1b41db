/**
 * @file events.c
 * @brief CUDA's event functions, including cudaStreamWaitEvent().
 */
#include "graphs.h"
#include "machine/device_limits.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "order/stream_table.h"
#include "order/stream_work.h"
#include "machine/host_threads.h"

#include <stdlib.h>
#include <time.h>

struct event {
    uint64_t generation;
    bool alive;
    bool recorded;
    bool timed;
    bool has_returned_not_ready;
    bool captured; /**< last recorded in a stream that was being captured */
    struct timespec time;
    uintptr_t record_site;
    size_t stream;              /**< number of the stream in which it was last recorded */
    uint64_t recorded_position; /**< position of the latest work at that call */
    struct stream_clock clock;
};

static struct event *events;
static size_t event_count;

static struct event *event_of(cudaEvent_t event)
{
    const uintptr_t handle = (uintptr_t)event;
    const size_t number = handle % (1 << HANDLE_GENERATION_SHIFT) / HANDLE_NUMBER_STRIDE;

    if (handle % HANDLE_NUMBER_STRIDE != HANDLE_KIND_EVENT || number >= event_count || !events[number].alive ||
        events[number].generation != handle >> HANDLE_GENERATION_SHIFT)
        return NULL;
    return &events[number];
}

/** Returns the index of an unused event, or MAX_HANDLES if out of memory. */
static size_t free_event(void)
{
    for (size_t i = 0; i < event_count; i++) {
        if (!events[i].alive)
            return i;
    }
    struct event *larger = event_count < MAX_HANDLES ? realloc(events, (event_count + 1) * sizeof *larger) : NULL;

    if (!larger)
        return MAX_HANDLES;
    events = larger;
    events[event_count] = (struct event){0};
    return event_count++;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    SIMT_HOLD_HOST_LOCK;
    if (!event)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    const size_t number = free_event();

    if (number == MAX_HANDLES)
        return SIMT_RECORD_FAILURE(cudaErrorMemoryAllocation);
    events[number] = (struct event){
        .generation = events[number].generation + 1, .alive = true, .timed = !(flags & cudaEventDisableTiming)};
    *event = (cudaEvent_t)simt_make_handle(number, events[number].generation, HANDLE_KIND_EVENT);
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const size_t number = simt_stream_number(stream);
    struct event *recorded = event_of(event);

    if (!recorded)
        return simt_report_invalid_handle("cudaEventRecord", "event", SIMT_RETURN_ADDRESS());
    if (number == MAX_HANDLES)
        return simt_report_invalid_handle("cudaEventRecord", "stream", SIMT_RETURN_ADDRESS());
    recorded->captured = simt_stream_is_capturing(stream);
    if (recorded->captured)
        return simt_capture_event_record(event, stream);
    for (size_t i = 0; i < simt_num_streams; i++) {
        if (simt_streams[i].vain_wait_event == event && !simt_streams[i].late_record_site)
            simt_streams[i].late_record_site = SIMT_RETURN_ADDRESS();
    }
    clock_gettime(CLOCK_MONOTONIC, &recorded->time);
    recorded->recorded = true;
    recorded->record_site = SIMT_RETURN_ADDRESS();
    recorded->stream = number;
    recorded->recorded_position = simt_latest_work_position;
    recorded->has_returned_not_ready = false;
    recorded->clock.num_streams = 0;
    simt_stream_clock_join(&recorded->clock, simt_stream_current_clock(number));
    return cudaSuccess;
}

/** Rejects a call that waits for or queries an event that was recorded in a captured stream. */
static cudaError_t captured(const char *name, cudaEvent_t event, uintptr_t call_site)
{
    const cudaError_t error = simt_check_call_permitted(name, CAPTURE_HAZARD_NONE, call_site);

    if (error != cudaSuccess || !event_of(event)->captured)
        return error;
    return simt_fault_runtime_call(call_site, name, cudaErrorCapturedEvent,
                                   "the event was last recorded in a capture, which executes nothing" SIMT_ADVICE_PREFIX
                                   "cudaEventRecord() again, outside the capture");
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    const struct event *awaited = event_of(event);

    if (!awaited)
        return simt_report_invalid_handle("cudaEventSynchronize", "event", SIMT_RETURN_ADDRESS());
    const cudaError_t error = captured("cudaEventSynchronize", event, SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    simt_check_work_uses_no_returned_locals(SIMT_CALLER_STACK_POINTER());
    if (awaited->recorded)
        simt_last_event_wait = (struct event_wait){.wait_site = SIMT_RETURN_ADDRESS(),
                                                   .record_site = awaited->record_site,
                                                   .stream = awaited->stream,
                                                   .recorded_position = awaited->recorded_position,
                                                   .waited_position = simt_latest_work_position};
    simt_record_host_wait_for_stream_clock(&awaited->clock);
    return simt_peek_error_blocking_launches();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    struct event *queried = event_of(event);

    if (!queried)
        return simt_report_invalid_handle("cudaEventQuery", "event", SIMT_RETURN_ADDRESS());
    const cudaError_t error = captured("cudaEventQuery", event, SIMT_RETURN_ADDRESS());

    return error == cudaSuccess ? simt_query_stream_clock(&queried->clock, &queried->has_returned_not_ready) : error;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    const size_t number = simt_stream_number(stream);
    const struct event *awaited = event_of(event);

    (void)flags;
    if (number == MAX_HANDLES)
        return simt_report_invalid_handle("cudaStreamWaitEvent", "stream", SIMT_RETURN_ADDRESS());
    if (!awaited)
        return simt_report_invalid_handle("cudaStreamWaitEvent", "event", SIMT_RETURN_ADDRESS());
    if (simt_stream_is_capturing(stream) || simt_is_captured_event(event))
        return simt_capture_event_wait(stream, event, SIMT_RETURN_ADDRESS());
    const cudaError_t error = captured("cudaStreamWaitEvent", event, SIMT_RETURN_ADDRESS());

    if (error != cudaSuccess)
        return error;
    if (!awaited->recorded) {
        simt_streams[number].vain_wait_site = SIMT_RETURN_ADDRESS();
        simt_streams[number].vain_wait_event = event;
        simt_streams[number].late_record_site = 0;
    }
    simt_stream_apply_legacy_default_sync(number);
    simt_stream_clock_join(&simt_streams[number].clock, &awaited->clock);
    return cudaSuccess;
}

/**
 * Computes the wall-clock time between two events on the host: the duration of the simulation, not a prediction of GPU
 * time.
 */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    const struct event *first = event_of(begin);
    const struct event *last = event_of(end);

    if (!milliseconds)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (!first || !last)
        return simt_report_invalid_handle("cudaEventElapsedTime", "event", SIMT_RETURN_ADDRESS());
    if (!first->recorded || !last->recorded || !first->timed || !last->timed)
        return simt_fault_runtime_call(
            SIMT_RETURN_ADDRESS(), "cudaEventElapsedTime", cudaErrorInvalidResourceHandle,
            "an event was never recorded, or was created with cudaEventDisableTiming" SIMT_ADVICE_PREFIX
            "cudaEventRecord() of both events before");
    if (simt_stream_clock_is_pending(&first->clock) || simt_stream_clock_is_pending(&last->clock))
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), "cudaEventElapsedTime", cudaErrorNotReady,
                                       "the work before an event may not have finished" SIMT_ADVICE_PREFIX
                                       "cudaEventSynchronize() of the second event before");
    *milliseconds = (float)(last->time.tv_sec - first->time.tv_sec) * 1e3f +
                    (float)(last->time.tv_nsec - first->time.tv_nsec) * 1e-6f;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    struct event *destroyed = event_of(event);

    if (!destroyed)
        return simt_report_invalid_handle("cudaEventDestroy", "event", SIMT_RETURN_ADDRESS());
    free(destroyed->clock.positions);
    *destroyed = (struct event){.generation = destroyed->generation};
    return cudaSuccess;
}
