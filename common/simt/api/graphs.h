/** @file graphs.h  Graphs: what a stream was given while it was captured, to be given again. */
#ifndef SIMT_GRAPHS_H
#define SIMT_GRAPHS_H

#include "cuda_runtime.h"

enum step_kind { STEP_WORK, STEP_RECORD, STEP_WAIT };

/** Does a piece of work again, in a stream; `operand` is what it was captured with. */
typedef cudaError_t (*graph_work)(const void *operand, cudaStream_t stream);

struct step {
    enum step_kind kind;
    unsigned branch; /**< which of the captured streams, in the order in which they joined */
    unsigned event;  /**< of a record or a wait: which, in the order in which they were recorded */
    graph_work work;
    void *operand;
};

struct CUgraph_st {
    struct step *step;
    size_t count, room;
    unsigned branches, events;
    bool destroyed; /**< by the host, who may no longer name it */
    unsigned users; /**< a graph is kept as long as it can be launched, too */
    cudaGraph_t next;
};

/** Whether what a stream is given is captured, and not done. */
bool simt_captures(cudaStream_t stream);
/**
 * Captures a piece of work: what does it, and the two parts of its operand, of which the second begins at GRAPH_PART.
 */
cudaError_t simt_capture(cudaStream_t stream, graph_work work, const void *operand, size_t bytes, const void *more,
                         size_t more_bytes);
#define GRAPH_PART(bytes) (((bytes) + 15) / 16 * 16)

/** An event is recorded in a captured stream, or waited for: by a captured stream, or by one that so becomes one. */
cudaError_t simt_capture_record(cudaEvent_t event, cudaStream_t stream);
bool simt_is_captured_event(cudaEvent_t event);
cudaError_t simt_capture_wait(cudaStream_t stream, cudaEvent_t event);

/** Whether there is such a graph; and lets go of one that somebody has used. */
bool simt_is_graph(cudaGraph_t graph);
void simt_graph_release(cudaGraph_t graph);

#endif
