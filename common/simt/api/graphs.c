/**
 * @file graphs.c
 * @brief Captures stream work as a graph. A stream that waits for an event recorded in the capture joins it.
 *
 * Only one capture can be in progress at a time. A graph stores its steps in call order, which is one of the orders in
 * which a GPU may execute them.
 */
#include "graphs.h"

#include "machine/array_reserve.h"
#include "machine/device_limits.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "order/stream_table.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DIVERGENT_BRANCHES = 32 };

/**
 * The steps that are ordered before a point in a graph: for each branch, one more than the index of its last such step,
 * or 0 if there is none.
 */
struct known {
    size_t steps[MAX_DIVERGENT_BRANCHES];
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
    cudaStream_t stream[MAX_DIVERGENT_BRANCHES];
    struct known known[MAX_DIVERGENT_BRANCHES];
    struct recorded *recorded; /**< indexed by record number; each cudaEventRecord() gets a new number */
} capture;

static cudaGraph_t graphs;

/* --- graphs ------------------------------------------------------------------------------------------------------- */

bool simt_is_graph(cudaGraph_t graph)
{
    for (cudaGraph_t other = graphs; other; other = other->next) {
        if (other == graph)
            return !other->destroyed;
    }
    return false;
}

void simt_graph_release(cudaGraph_t graph)
{
    cudaGraph_t *link = &graphs;

    if (--graph->users > 0)
        return;
    while (*link != graph)
        link = &(*link)->next;
    *link = graph->next;
    for (size_t i = 0; i < graph->count; i++)
        free(graph->step[i].operand);
    free(graph->step);
    free(graph);
}

static cudaGraph_t graph_new(void)
{
    cudaGraph_t graph = calloc(1, sizeof *graph);

    if (!graph)
        return NULL;
    graph->users = 1;
    graph->next = graphs;
    graphs = graph;
    return graph;
}

/* --- captured work ------------------------------------------------------------------------------------------------ */

/** Returns the branch that captures a stream, or MAX_DIVERGENT_BRANCHES if the stream is not being captured. */
static unsigned branch_of(cudaStream_t stream)
{
    unsigned branch = 0;

    while (capture.graph && branch < capture.graph->branches) {
        if (capture.stream[branch] == stream)
            return branch;
        branch++;
    }
    return MAX_DIVERGENT_BRANCHES;
}

bool simt_captures(cudaStream_t stream)
{
    return capture.graph && branch_of(stream) < MAX_DIVERGENT_BRANCHES;
}

static cudaError_t add_step(struct step step)
{
    cudaGraph_t graph = capture.graph;

    if (!simt_array_reserve(&graph->step, &graph->room, graph->count + 1, sizeof *graph->step)) {
        free(step.operand);
        return simt_set_error(cudaErrorMemoryAllocation);
    }
    graph->step[graph->count++] = step;
    capture.known[step.branch].steps[step.branch] = graph->count;
    return cudaSuccess;
}

bool simt_is_capturing(void)
{
    return capture.graph;
}

/** Returns whether any captured stream synchronises with the legacy default stream. */
static bool captures_blocking_stream(void)
{
    for (unsigned i = 0; capture.graph && i < capture.graph->branches; i++)
        if (simt_streams[simt_stream_number(capture.stream[i])].blocking)
            return true;
    return false;
}

bool simt_in_host_function;

cudaError_t simt_permit(const char *name, enum call_kind kind, uintptr_t caller)
{
    if (simt_in_host_function)
        return simt_fault_call(caller, name, cudaErrorNotPermitted,
                               "a function that cudaLaunchHostFunc() calls may not call CUDA");
    if (kind == CALL_WAITS && capture.graph && !capture.relaxed)
        return simt_fault_call(caller, name, cudaErrorStreamCaptureUnsupported,
                               "a stream is being captured, and the call may wait for the device: call it before the "
                               "capture, or capture with cudaStreamCaptureModeRelaxed");
    if (kind == CALL_LEGACY && captures_blocking_stream())
        return simt_fault_call(caller, name, cudaErrorStreamCaptureImplicit,
                               "the default stream waits for a stream that is being captured: use the captured stream, "
                               "or capture one with cudaStreamNonBlocking");
    return cudaSuccess;
}

cudaError_t simt_capture(cudaStream_t stream, graph_work work, const void *operand, size_t bytes, const void *more,
                         size_t more_bytes)
{
    unsigned char *copy = calloc(1, GRAPH_PART(bytes) + more_bytes);

    if (!copy)
        return simt_set_error(cudaErrorMemoryAllocation);
    memcpy(copy, operand, bytes);
    if (more_bytes > 0)
        memcpy(copy + GRAPH_PART(bytes), more, more_bytes);
    return add_step((struct step){.kind = STEP_WORK, .branch = branch_of(stream), .work = work, .operand = copy});
}

/** Returns the index of an event's latest record, or the number of events if the event was not recorded. */
static unsigned record_of(cudaEvent_t event)
{
    for (unsigned i = capture.graph->events; i-- > 0;) {
        if (capture.recorded[i].event == event)
            return i;
    }
    return capture.graph->events;
}

bool simt_is_captured_event(cudaEvent_t event)
{
    return capture.graph && record_of(event) < capture.graph->events;
}

cudaError_t simt_capture_record(cudaEvent_t event, cudaStream_t stream)
{
    const unsigned branch = branch_of(stream), number = capture.graph->events;
    struct recorded *larger = realloc(capture.recorded, (number + 1) * sizeof *larger);

    if (!larger)
        return simt_set_error(cudaErrorMemoryAllocation);
    capture.recorded = larger;
    capture.recorded[number] = (struct recorded){event, capture.known[branch]};
    capture.graph->events++;
    return add_step((struct step){.kind = STEP_RECORD, .branch = branch, .event = number});
}

cudaError_t simt_capture_wait(cudaStream_t stream, cudaEvent_t event, uintptr_t caller)
{
    const unsigned number = record_of(event);
    unsigned branch = branch_of(stream);

    if (number == capture.graph->events)
        return simt_fault_call(caller, "cudaStreamWaitEvent", cudaErrorStreamCaptureIsolation,
                               "the event was not recorded in the capture" SIMT_TRY
                               "cudaEventRecord() in a stream of the capture, after its begin");
    if (branch == MAX_DIVERGENT_BRANCHES) {
        if (capture.graph->branches == MAX_DIVERGENT_BRANCHES)
            return simt_fail("cudaStreamWaitEvent", cudaErrorNotSupported, caller);
        branch = capture.graph->branches++;
        capture.stream[branch] = stream;
    }
    for (unsigned i = 0; i < MAX_DIVERGENT_BRANCHES; i++) {
        if (capture.known[branch].steps[i] < capture.recorded[number].known.steps[i])
            capture.known[branch].steps[i] = capture.recorded[number].known.steps[i];
    }
    return add_step((struct step){.kind = STEP_WAIT, .branch = branch, .event = number});
}

/* --- begin and end ------------------------------------------------------------------------------------------------ */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    if (!stream || stream == cudaStreamLegacy)
        return simt_fault_call(SIMT_CALLER(), "cudaStreamBeginCapture", cudaErrorStreamCaptureUnsupported,
                               "the default stream cannot be captured" SIMT_TRY "a stream from cudaStreamCreate()");
    if (capture.graph)
        return simt_fault_call(SIMT_CALLER(), "cudaStreamBeginCapture", cudaErrorIllegalState,
                               "a stream is being captured already" SIMT_TRY "cudaStreamEndCapture() first");
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed)
        return SIMT_FAIL(cudaErrorInvalidValue);
    free(capture.recorded);
    capture = (struct capture){.graph = graph_new(),
                               .number = capture.number + 1,
                               .relaxed = mode == cudaStreamCaptureModeRelaxed,
                               .stream = {stream}};
    if (!capture.graph)
        return SIMT_FAIL(cudaErrorMemoryAllocation);
    capture.graph->branches = 1;
    return cudaSuccess;
}

/** Returns whether the capture's first stream has joined all work of the other streams. */
static bool is_joined(void)
{
    size_t last[MAX_DIVERGENT_BRANCHES] = {0};

    for (size_t i = 0; i < capture.graph->count; i++) {
        if (capture.graph->step[i].kind == STEP_WORK)
            last[capture.graph->step[i].branch] = i + 1;
    }
    for (unsigned i = 1; i < capture.graph->branches; i++) {
        if (last[i] > capture.known[0].steps[i])
            return false;
    }
    return true;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const bool joined = capture.graph && is_joined();

    if (!graph)
        return SIMT_FAIL(cudaErrorInvalidValue);
    *graph = NULL;
    if (!capture.graph)
        return simt_fault_call(SIMT_CALLER(), "cudaStreamEndCapture", cudaErrorIllegalState,
                               "no stream is being captured" SIMT_TRY "cudaStreamBeginCapture() before the work");
    if (branch_of(stream) != 0)
        return simt_fault_call(SIMT_CALLER(), "cudaStreamEndCapture", cudaErrorStreamCaptureUnmatched,
                               "the capture began in another stream" SIMT_TRY "the stream of cudaStreamBeginCapture()");
    if (joined)
        *graph = capture.graph;
    else
        simt_graph_release(capture.graph);
    capture.graph = NULL;
    if (!joined)
        return simt_fault_call(SIMT_CALLER(), "cudaStreamEndCapture", cudaErrorStreamCaptureUnjoined,
                               "another captured stream has work that the first does not wait for" SIMT_TRY
                               "cudaEventRecord() in that stream, and cudaStreamWaitEvent() in the first");
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (!status)
        return SIMT_FAIL(cudaErrorInvalidValue);
    *status = simt_captures(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count)
{
    if (graph || dependencies || count)
        return SIMT_FAIL(cudaErrorNotSupported);
    if (id)
        *id = capture.number;
    return cudaStreamIsCapturing(stream, status);
}
