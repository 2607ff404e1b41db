/**
 * @file graph_launches.c
 * @brief Executable graphs: CUDA's functions that instantiate, launch and destroy graphs.
 */
#include "graphs.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "order/stream_work.h"

#include <stdlib.h>

/**
 * An executable graph, with its own events and one stream per branch. The first branch uses the stream in which the
 * graph was last launched.
 */
struct CUgraphExec_st {
    cudaGraph_t graph;
    cudaStream_t *stream;
    cudaEvent_t *event; /**< the graph's events, followed by one that is recorded at the end of each launch */
    bool launched;
    cudaGraphExec_t next;
};

static cudaGraphExec_t execs;

static bool is_exec(cudaGraphExec_t exec)
{
    for (cudaGraphExec_t other = execs; other; other = other->next) {
        if (other == exec)
            return true;
    }
    return false;
}

static void exec_free(cudaGraphExec_t exec)
{
    for (unsigned i = 1; exec->stream && i < exec->graph->num_streams; i++) {
        if (exec->stream[i])
            cudaStreamDestroy(exec->stream[i]);
    }
    for (unsigned i = 0; exec->event && i <= exec->graph->num_events; i++) {
        if (exec->event[i])
            cudaEventDestroy(exec->event[i]);
    }
    free(exec->stream);
    free(exec->event);
    simt_graph_release_reference(exec->graph);
    free(exec);
}

/** Creates the streams and events of an executable graph; returns false if out of memory. */
static bool exec_fill(cudaGraphExec_t exec)
{
    exec->stream = calloc(exec->graph->num_streams, sizeof *exec->stream);
    exec->event = calloc(exec->graph->num_events + 1, sizeof *exec->event);
    if (!exec->stream || !exec->event)
        return false;
    for (unsigned i = 1; i < exec->graph->num_streams; i++) {
        if (cudaStreamCreateWithFlags(&exec->stream[i], cudaStreamNonBlocking) != cudaSuccess)
            return false;
    }
    for (unsigned i = 0; i <= exec->graph->num_events; i++) {
        if (cudaEventCreateWithFlags(&exec->event[i], cudaEventDisableTiming) != cudaSuccess)
            return false;
    }
    return true;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    if (!exec || !simt_graph_is_usable(graph))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    *exec = calloc(1, sizeof **exec);
    if (!*exec)
        return SIMT_RECORD_FAILURE(cudaErrorMemoryAllocation);
    (*exec)->graph = graph;
    graph->num_references++;
    if (!exec_fill(*exec)) {
        exec_free(*exec);
        *exec = NULL;
        return SIMT_RECORD_FAILURE(cudaErrorMemoryAllocation);
    }
    (*exec)->next = execs;
    execs = *exec;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)stream;
    return is_exec(exec) ? cudaSuccess : SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
}

/** Prevents the next launch in each of a graph's streams from overlapping earlier launches. */
static void part_streams(cudaGraphExec_t exec)
{
    for (unsigned i = 0; i < exec->graph->num_streams; i++)
        simt_work_end_overlap(exec->stream[i]);
}

/**
 * Replays the steps of a graph in capture order. The launch is ordered after the graph's previous launch in any stream.
 */
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    if (!is_exec(exec))
        return simt_fault_runtime_call(SIMT_RETURN_ADDRESS(), "cudaGraphLaunch", cudaErrorInvalidValue,
                                       "not a graph that cudaGraphInstantiate() has made, or one that was destroyed");
    if (simt_stream_is_capturing(stream))
        return SIMT_RECORD_FAILURE(cudaErrorNotSupported);
    exec->stream[0] = stream;
    simt_graph_launch_stack_pointer = SIMT_CALLER_STACK_POINTER();
    part_streams(exec);
    if (exec->launched)
        error = cudaStreamWaitEvent(stream, exec->event[exec->graph->num_events], 0);
    for (size_t i = 0; i < exec->graph->num_steps && error == cudaSuccess; i++) {
        const struct graph_step *step = &exec->graph->steps[i];
        const cudaStream_t its = exec->stream[step->stream_index];

        if (step->kind == GRAPH_STEP_WORK)
            error = step->replay(step->operand_copy, its);
        else if (step->kind == GRAPH_STEP_EVENT_RECORD)
            error = cudaEventRecord(exec->event[step->event_index], its);
        else
            error = cudaStreamWaitEvent(its, exec->event[step->event_index], 0);
    }
    part_streams(exec);
    exec->launched = true;
    return error == cudaSuccess ? cudaEventRecord(exec->event[exec->graph->num_events], stream) : error;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaGraphExec_t *link = &execs;

    if (!is_exec(exec))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    while (*link != exec)
        link = &(*link)->next;
    *link = exec->next;
    exec_free(exec);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!simt_graph_is_usable(graph))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    graph->is_destroyed = true;
    simt_graph_release_reference(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!count || !simt_graph_is_usable(graph))
        return SIMT_RECORD_FAILURE(cudaErrorInvalidValue);
    if (nodes)
        return SIMT_RECORD_FAILURE(cudaErrorNotSupported);
    *count = 0;
    for (size_t i = 0; i < graph->num_steps; i++)
        *count += graph->steps[i].kind == GRAPH_STEP_WORK;
    return cudaSuccess;
}
