/**
 * @file graphs.c
 * @brief Captures stream work as a graph. A stream that waits for an event recorded in the capture joins it.
 *
 * Only one capture can be in progress at a time. A graph stores its steps in call order, which is one of the orders in
 * which a GPU may execute them.
 */
#include "graphs.h"

#include "lanes/lanes.h"
#include "machine/array_reserve.h"
#include "machine/device_limits.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "order/stream_table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CAPTURED_STREAMS = 32 };

/**
 * The steps that are ordered before a point in a graph: for each branch, one more than the index of its last such step,
 * or 0 if there is none.
 */
struct known {
    size_t steps[MAX_CAPTURED_STREAMS];
};

/** A recorded event, and the steps that are ordered before the record. */
struct recorded {
    cudaEvent_t event;
    struct known known;
};

static struct capture {
    cudaGraph_t graph;         /**< NULL if no capture is in progress */
    unsigned long long number; /**< number of the current capture, or of the last one if none is in progress */
    bool relaxed;              /**< calls that wait for the device are permitted */
    cudaStream_t stream[MAX_CAPTURED_STREAMS];
    struct known known[MAX_CAPTURED_STREAMS];
    struct recorded *recorded; /**< indexed by record number; each cudaEventRecord() gets a new number */
} capture;

static cudaGraph_t graphs;

/* --- graphs ------------------------------------------------------------------------------------------------------- */

bool simt_graph_is_usable(cudaGraph_t graph)
{
    for (cudaGraph_t other = graphs; other; other = other->next) {
        if (other == graph)
            return !other->is_destroyed;
    }
    return false;
}

void simt_graph_release_reference(cudaGraph_t graph)
{
    cudaGraph_t *link = &graphs;

    if (--graph->num_references > 0)
        return;
    while (*link != graph)
        link = &(*link)->next;
    *link = graph->next;
    for (size_t i = 0; i < graph->num_steps; i++)
        free(graph->steps[i].operand_copy);
    free(graph->steps);
    free(graph);
}

static cudaGraph_t graph_new(void)
{
    cudaGraph_t graph = calloc(1, sizeof *graph);

    if (!graph)
        return NULL;
    graph->num_references = 1;
    graph->next = graphs;
    graphs = graph;
    return graph;
}

/* --- captured work ------------------------------------------------------------------------------------------------ */

/** Returns the branch that captures a stream, or MAX_CAPTURED_STREAMS if the stream is not being captured. */
static unsigned branch_of(cudaStream_t stream)
{
    unsigned branch = 0;

    while (capture.graph && branch < capture.graph->num_streams) {
        if (capture.stream[branch] == stream)
            return branch;
        branch++;
    }
    return MAX_CAPTURED_STREAMS;
}

bool simt_stream_is_capturing(cudaStream_t stream)
{
    return capture.graph && branch_of(stream) < MAX_CAPTURED_STREAMS;
}

static cudaError_t add_step(struct graph_step step)
{
    cudaGraph_t graph = capture.graph;

    if (!simt_array_reserve(&graph->steps, &graph->capacity, graph->num_steps + 1, sizeof *graph->steps)) {
        free(step.operand_copy);
        return simt_set_last_error(cudaErrorMemoryAllocation);
    }
    graph->steps[graph->num_steps++] = step;
    capture.known[step.stream_index].steps[step.stream_index] = graph->num_steps;
    return cudaSuccess;
}

bool simt_capture_in_progress(void)
{
    return capture.graph;
}

/** Returns whether any captured stream synchronises with the legacy default stream. */
static bool captures_blocking_stream(void)
{
    for (unsigned i = 0; capture.graph && i < capture.graph->num_streams; i++)
        if (simt_streams[simt_stream_number(capture.stream[i])].syncs_with_legacy_default)
            return true;
    return false;
}

bool simt_in_host_function;

cudaError_t simt_check_call_permitted(const char *name, enum capture_hazard hazard, uintptr_t call_site)
{
    if (simt_running.lane)
        simt_fault_here(
            cudaErrorLaunchFailure, call_site, "call of a host function",
            "%s %s%s, which only the host can do" SIMT_ADVICE_PREFIX "do it on the host, before or after the launch",
            strncmp(name, "cuda", 4) == 0 ? "calls" : "launches", name, strncmp(name, "cuda", 4) == 0 ? "()" : "");
    if (simt_in_host_function)
        return simt_fault_runtime_call(call_site, name, cudaErrorNotPermitted,
                                       "a function that cudaLaunchHostFunc() calls may not call CUDA" SIMT_ADVICE_PREFIX
                                       "cudaMemcpyAsync() in the stream before cudaLaunchHostFunc(), and only host "
                                       "work in the function");
    if (hazard == CAPTURE_HAZARD_MAY_WAIT_FOR_DEVICE && capture.graph && !capture.relaxed)
        return simt_fault_runtime_call(
            call_site, name, cudaErrorStreamCaptureUnsupported,
            "a stream is being captured, and the call may wait for the device: call it before the "
            "capture, or capture with cudaStreamCaptureModeRelaxed");
    if (hazard == CAPTURE_HAZARD_LEGACY_STREAM && captures_blocking_stream())
        return simt_fault_runtime_call(
            call_site, name, cudaErrorStreamCaptureImplicit,
            "the default stream waits for a stream that is being captured: use the captured stream, "
            "or capture one with cudaStreamNonBlocking");
    return cudaSuccess;
}

cudaError_t simt_capture_work(cudaStream_t stream, graph_replay_function replay, const void *operand,
                              size_t operand_bytes, const void *arguments, size_t argument_bytes)
{
    unsigned char *copy = calloc(1, CAPTURED_ARGUMENTS_OFFSET(operand_bytes) + argument_bytes);

    if (!copy)
        return simt_set_last_error(cudaErrorMemoryAllocation);
    memcpy(copy, operand, operand_bytes);
    if (argument_bytes > 0)
        memcpy(copy + CAPTURED_ARGUMENTS_OFFSET(operand_bytes), arguments, argument_bytes);
    return add_step((struct graph_step){
        .kind = GRAPH_STEP_WORK, .stream_index = branch_of(stream), .replay = replay, .operand_copy = copy});
}

/** Returns the index of an event's latest record, or the number of events if the event was not recorded. */
static unsigned record_of(cudaEvent_t event)
{
    for (unsigned i = capture.graph->num_events; i-- > 0;) {
        if (capture.recorded[i].event == event)
            return i;
    }
    return capture.graph->num_events;
}

bool simt_is_captured_event(cudaEvent_t event)
{
    return capture.graph && record_of(event) < capture.graph->num_events;
}

cudaError_t simt_capture_event_record(cudaEvent_t event, cudaStream_t stream)
{
    const unsigned branch = branch_of(stream), number = capture.graph->num_events;
    struct recorded *larger = realloc(capture.recorded, (number + 1) * sizeof *larger);

    if (!larger)
        return simt_set_last_error(cudaErrorMemoryAllocation);
    capture.recorded = larger;
    capture.recorded[number] = (struct recorded){event, capture.known[branch]};
    capture.graph->num_events++;
    return add_step(
        (struct graph_step){.kind = GRAPH_STEP_EVENT_RECORD, .stream_index = branch, .event_index = number});
}

cudaError_t simt_capture_event_wait(cudaStream_t stream, cudaEvent_t event, uintptr_t call_site)
{
    const unsigned number = record_of(event);
    unsigned branch = branch_of(stream);

    if (number == capture.graph->num_events)
        return simt_fault_runtime_call(call_site, "cudaStreamWaitEvent", cudaErrorStreamCaptureIsolation,
                                       "the event was not recorded in the capture" SIMT_ADVICE_PREFIX
                                       "cudaEventRecord() in a stream of the capture, after its begin");
    if (branch == MAX_CAPTURED_STREAMS) {
        if (capture.graph->num_streams == MAX_CAPTURED_STREAMS)
            return simt_record_failed_call("cudaStreamWaitEvent", cudaErrorNotSupported, call_site);
        branch = capture.graph->num_streams++;
        capture.stream[branch] = stream;
    }
    for (unsigned i = 0; i < MAX_CAPTURED_STREAMS; i++) {
        if (capture.known[branch].steps[i] < capture.recorded[number].known.steps[i])
            capture.known[branch].steps[i] = capture.recorded[number].known.steps[i];
    }
    return add_step((struct graph_step){.kind = GRAPH_STEP_EVENT_WAIT, .stream_index = branch, .event_index = number});
}

/* --- begin and end ------------------------------------------------------------------------------------------------ */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    if (!stream || stream == cudaStreamLegacy)
        return simt_fault_runtime_call(
            SIMT_RETURN_ADDRESS(), "cudaStreamBeginCapture", cudaErrorStreamCaptureUnsupported,
            "the default stream cannot be captured" SIMT_ADVICE_PREFIX "a stream from cudaStreamCreate()");
    if (capture.graph)
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), "cudaStreamBeginCapture", cudaErrorIllegalState,
                                       "a stream is being captured already" SIMT_ADVICE_PREFIX
                                       "cudaStreamEndCapture() first");
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    free(capture.recorded);
    capture = (struct capture){.graph = graph_new(),
                               .number = capture.number + 1,
                               .relaxed = mode == cudaStreamCaptureModeRelaxed,
                               .stream = {stream}};
    if (!capture.graph)
        return SIMT_RECORD_FAILURE(cudaErrorMemoryAllocation);
    capture.graph->num_streams = 1;
    return cudaSuccess;
}

/** Returns whether the capture's first stream has joined all work of the other streams. */
static bool is_joined(void)
{
    size_t last[MAX_CAPTURED_STREAMS] = {0};

    for (size_t i = 0; i < capture.graph->num_steps; i++) {
        if (capture.graph->steps[i].kind == GRAPH_STEP_WORK)
            last[capture.graph->steps[i].stream_index] = i + 1;
    }
    for (unsigned i = 1; i < capture.graph->num_streams; i++) {
        if (last[i] > capture.known[0].steps[i])
            return false;
    }
    return true;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const bool joined = capture.graph && is_joined();

    if (!graph)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *graph = NULL;
    if (!capture.graph)
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), "cudaStreamEndCapture", cudaErrorIllegalState,
                                       "no stream is being captured" SIMT_ADVICE_PREFIX
                                       "cudaStreamBeginCapture() before the work");
    if (branch_of(stream) != 0)
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), "cudaStreamEndCapture", cudaErrorStreamCaptureUnmatched,
                                       "the capture began in another stream" SIMT_ADVICE_PREFIX
                                       "the stream of cudaStreamBeginCapture()");
    if (joined)
        *graph = capture.graph;
    else
        simt_graph_release_reference(capture.graph);
    capture.graph = NULL;
    if (!joined)
        return simt_fault_runtime_call(
            SIMT_RETURN_ADDRESS(), "cudaStreamEndCapture", cudaErrorStreamCaptureUnjoined,
            "another captured stream has work that the first does not wait for" SIMT_ADVICE_PREFIX
            "cudaEventRecord() in that stream, and cudaStreamWaitEvent() in the first");
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (!status)
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *status = simt_stream_is_capturing(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count)
{
    if (graph || dependencies || count)
        return SIMT_RECORD_FAILURE(cudaErrorNotSupported);
    if (id)
        *id = capture.number;
    return cudaStreamIsCapturing(stream, status);
}
