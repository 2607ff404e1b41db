/**
 * @file routing/routing.h
 * @brief Routing: gate and align together, from the logits to the padded list of rows.
 *
 * What the gate chooses is what align groups: its `topk_ids` are the ids of both. This header is all that a chapter's
 * kernel and its main.c need.
 */
#ifndef ROUTING_H
#define ROUTING_H

#include "harness/align/align.h"
#include "harness/gate/gate.h"

#ifdef __cplusplus
extern "C" {
#endif

// [problem]
/** One routing problem. The two parts agree: align's ids are the gate's num_tokens * topk choices, in i32. */
struct routing_problem {
    struct gate_problem gate;
    struct align_problem align;
};

/** Where the tensors lie, in device memory. */
struct routing_buffers {
    struct gate_buffers gate;
    struct align_buffers align; /**< its topk_ids are the gate's */
};
// [problem]

/**
 * One way from logits to the list. `unsupported_reason` returns NULL, or one line that names the flag it cannot take
 * and why; NULL in its place takes everything.
 */
struct routing_implementation {
    const char *name;
    const char *(*unsupported_reason)(const struct routing_problem *problem);
    size_t (*workspace_bytes)(const struct routing_problem *problem); /**< of buffers->align; NULL: none */
    bool workspace_zeroed; /**< it holds zeros before the first launch, then what the last one left; else anything */
    /** Shared memory that a block needs, if that is more than every GPU has; else 0. NULL: never. */
    size_t (*shared_bytes)(const struct routing_problem *problem);
    /** Launches on `stream`. Returns the first error. Must not allocate or synchronise. */
    cudaError_t (*launch)(const struct routing_problem *problem, const struct routing_buffers *buffers,
                          cudaStream_t stream);
};

/** What one chapter is: its implementation, and what it is compared with. */
struct routing_chapter {
    struct routing_implementation implementation;
    struct routing_implementation before;
};

/** Every routing.cu defines this one. */
cudaError_t routing_launch(const struct routing_problem *problem, const struct routing_buffers *buffers,
                           cudaStream_t stream);

/** A gate's launch, then align's: what one launch is compared with, and what it leaves larger problems to. */
cudaError_t routing_launch_pair(const struct routing_problem *problem, const struct routing_buffers *buffers,
                                cudaStream_t stream);

/** Runs a chapter's program: command line, input, launch, check, report. Returns the process's exit code. */
int routing_main(int argc, char **argv, const struct routing_chapter *chapter);

#ifdef __cplusplus
}
#endif

#endif
