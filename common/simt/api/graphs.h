/**
 * @file graphs.h
 * @brief Graphs: stream work that is captured once and can be launched repeatedly. Used by the files in api/ that
 *        submit work to streams.
 */
#ifndef SIMT_GRAPHS_H
#define SIMT_GRAPHS_H

#include "cuda_runtime.h"

enum graph_step_kind { GRAPH_STEP_WORK, GRAPH_STEP_EVENT_RECORD, GRAPH_STEP_EVENT_WAIT };

/** A function that replays captured work in a stream; `operand` is the copy made at capture. */
typedef cudaError_t (*graph_replay_function)(const void *operand, cudaStream_t stream);

struct graph_step {
    enum graph_step_kind kind;
    unsigned stream_index; /**< index of the captured stream, in the order in which streams joined the capture */
    unsigned event_index;  /**< of an event's record or wait: index of the event, in the order of the records */
    graph_replay_function replay;
    void *operand_copy;
};

struct CUgraph_st {
    struct graph_step *steps;
    size_t num_steps, capacity;
    unsigned num_streams, num_events;
    bool is_destroyed;       /**< the host has destroyed the graph and may no longer use it */
    unsigned num_references; /**< number of references from the host and executable graphs; at 0 the graph is freed */
    cudaGraph_t next;
};

/** Returns whether the work of a stream is being captured instead of executed. */
bool simt_stream_is_capturing(cudaStream_t stream);
/** Returns whether the work of any stream is being captured. */
bool simt_capture_in_progress(void);
/** The reason why a stream capture may forbid a runtime call. */
enum capture_hazard {
    CAPTURE_HAZARD_NONE,                /**< neither of these */
    CAPTURE_HAZARD_MAY_WAIT_FOR_DEVICE, /**< waits or may wait for the device; allocations are an example */
    CAPTURE_HAZARD_LEGACY_STREAM        /**< submits work to the legacy default stream */
};
/** Returns the hazard of a call that submits work to a stream. */
static inline enum capture_hazard capture_hazard_of_submitting_to(cudaStream_t stream)
{
    return stream && stream != cudaStreamLegacy ? CAPTURE_HAZARD_NONE : CAPTURE_HAZARD_LEGACY_STREAM;
}
/**
 * Reports a call that is not permitted at the moment. A function passed to cudaLaunchHostFunc must not call the
 * runtime. During a capture that is not relaxed, a call must not wait for the device; during any capture, a call must
 * not submit work to the legacy default stream if that stream synchronises with a captured stream.
 */
cudaError_t simt_check_call_permitted(const char *name, enum capture_hazard hazard, uintptr_t call_site);
/** True while a function passed to cudaLaunchHostFunc runs. */
extern bool simt_in_host_function;

/**
 * Captures work as the function that replays it and a copy of its operand. For a launch, the copy also has the kernel's
 * arguments, at offset CAPTURED_ARGUMENTS_OFFSET(operand_bytes); for other work, `argument_bytes` is 0.
 */
cudaError_t simt_capture_work(cudaStream_t stream, graph_replay_function replay, const void *operand,
                              size_t operand_bytes, const void *arguments, size_t argument_bytes);
#define CAPTURED_ARGUMENTS_OFFSET(operand_bytes) (((operand_bytes) + 15) / 16 * 16)

/** Captures the record of an event in a captured stream. */
cudaError_t simt_capture_event_record(cudaEvent_t event, cudaStream_t stream);
/** Returns whether the event was recorded in the capture that is in progress. */
bool simt_is_captured_event(cudaEvent_t event);
/** Captures a wait for an event recorded in the capture. A stream that was not captured before joins the capture. */
cudaError_t simt_capture_event_wait(cudaStream_t stream, cudaEvent_t event, uintptr_t call_site);

/** Returns whether the graph exists and the host has not destroyed it. */
bool simt_graph_is_usable(cudaGraph_t graph);
/** Drops one reference to a graph, and frees the graph if that was the last reference. */
void simt_graph_release_reference(cudaGraph_t graph);

#endif
