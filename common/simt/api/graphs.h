/**
 * @file graphs.h
 * @brief Graphs: captured work of streams, which can be launched repeatedly. Used by the files in api/ that submit work
 *        to streams.
 */
#ifndef SIMT_GRAPHS_H
#define SIMT_GRAPHS_H

#include "cuda_runtime.h"

enum step_kind { STEP_WORK, STEP_RECORD, STEP_WAIT };

/** A function that repeats captured work in a stream; `operand` is the copy made when the work was captured. */
typedef cudaError_t (*graph_work)(const void *operand, cudaStream_t stream);

struct step {
    enum step_kind kind;
    unsigned branch; /**< index of the captured stream, in the order in which streams joined the capture */
    unsigned event;  /**< for a record or a wait: index of the event, in the order of the records */
    graph_work work;
    void *operand;
};

struct CUgraph_st {
    struct step *step;
    size_t count, room;
    unsigned branches, events;
    bool destroyed; /**< the host has destroyed the graph and may no longer use it */
    unsigned users; /**< number of users: the host and each executable graph; at 0 the graph is freed */
    cudaGraph_t next;
};

/** Returns whether the work of a stream is being captured instead of executed. */
bool simt_captures(cudaStream_t stream);
/** Returns whether the work of any stream is being captured. */
bool simt_is_capturing(void);
/** Kinds of runtime calls, which simt_permit() permits under different conditions. */
enum call_kind {
    CALL_SIMPLE,
    CALL_WAITS, /**< waits for the device or may do so, as an allocation does */
    CALL_LEGACY /**< submits work to the legacy default stream */
};
/**
 * Reports a call that is currently not permitted. A function passed to cudaLaunchHostFunc must not make any call.
 * During a capture that is not relaxed, a call must not wait for the device; during any capture, a call must not submit
 * work to the legacy default stream if that stream and a captured stream wait for each other.
 */
cudaError_t simt_permit(const char *name, enum call_kind kind, uintptr_t caller);
static inline enum call_kind call_of_stream(cudaStream_t stream)
{
    return stream && stream != cudaStreamLegacy ? CALL_SIMPLE : CALL_LEGACY;
}
/** True while a function passed to cudaLaunchHostFunc runs. */
extern bool simt_in_host_function;

/**
 * Captures work: its function and a copy of its operand, which has two parts; the second part begins at
 * GRAPH_PART(bytes).
 */
cudaError_t simt_capture(cudaStream_t stream, graph_work work, const void *operand, size_t bytes, const void *more,
                         size_t more_bytes);
#define GRAPH_PART(bytes) (((bytes) + 15) / 16 * 16)

/** Captures the record of an event in a captured stream. */
cudaError_t simt_capture_record(cudaEvent_t event, cudaStream_t stream);
/** Returns whether the event was recorded in the capture that is in progress. */
bool simt_is_captured_event(cudaEvent_t event);
/** Captures a wait for an event of the capture. A stream that was not captured before joins the capture. */
cudaError_t simt_capture_wait(cudaStream_t stream, cudaEvent_t event);

/** Returns whether the graph exists and the host has not destroyed it. */
bool simt_is_graph(cudaGraph_t graph);
/** Drops one user of a graph, and frees the graph with its last user. */
void simt_graph_release(cudaGraph_t graph);

#endif
