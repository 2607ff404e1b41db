/**
 * @file routing/routing.h
 * @brief Routing runs gate and align together, from the logits to the padded list of rows.
 *
 * Align groups the choices of the gate, so both use the same array `topk_ids`. This is the only harness header that a
 * chapter's kernel and its main.c need.
 */
#ifndef ROUTING_H
#define ROUTING_H

#include "harness/align/align.h"
#include "harness/gate/gate.h"

#ifdef __cplusplus
extern "C" {
#endif

// [problem]
/** A routing problem. Its two parts are consistent: align's ids are the gate's num_tokens * topk choices, in i32. */
struct routing_problem {
    struct gate_problem gate;
    struct align_problem align;
};

/** Addresses of the tensors in device memory. */
struct routing_buffers {
    struct gate_buffers gate;
    struct align_buffers align; /**< align's tensors; their topk_ids is the same array as the gate's */
};
// [problem]

/**
 * An implementation of routing. `unsupported_reason` returns NULL if the problem is supported, else one line that names
 * the unsupported flag and the reason; a NULL pointer means that every problem is supported.
 */
struct routing_implementation {
    const char *name;
    const char *own_kernels[3]; /**< names of the chapter's kernels, NULL-terminated; empty if there is no fallback */
    const char *fallback; /**< what is launched where these are not, and what these are for: a text for the report */
    int64_t kernel_switch_tokens[GATE_MAX_KERNEL_SWITCHES]; /**< as in gate_implementation */
    const char *(*unsupported_reason)(const struct routing_problem *problem);
    size_t (*workspace_bytes)(const struct routing_problem *problem); /**< align's workspace in bytes; NULL if none */
    bool workspace_must_be_zeroed; /**< whether the workspace is zeroed before the first launch, not left undefined */
    /** Returns the size in bytes of a block's shared memory if some GPUs offer less, else 0. A NULL pointer means 0. */
    size_t (*shared_bytes)(const struct routing_problem *problem);
    /** Launches the kernels on `stream`. Returns the first error. Must not allocate or synchronise. */
    cudaError_t (*launch)(const struct routing_problem *problem, const struct routing_buffers *buffers,
                          cudaStream_t stream);
};

/** A chapter's implementation and the implementation with which it is compared. */
struct routing_chapter {
    struct routing_implementation implementation;
    struct routing_implementation previous;
};

/** Launches routing. Every routing.cu defines this function. */
cudaError_t routing_launch(const struct routing_problem *problem, const struct routing_buffers *buffers,
                           cudaStream_t stream);

/**
 * Launches a gate, then align. One-launch routing is compared with this pair and falls back to it for larger problems.
 */
cudaError_t routing_launch_pair(const struct routing_problem *problem, const struct routing_buffers *buffers,
                                cudaStream_t stream);

/**
 * Runs a chapter's program: parses the command line, loads the input, launches, checks and reports. Returns the
 * process's exit code.
 */
int routing_main(int argc, char **argv, const struct routing_chapter *chapter);

#ifdef __cplusplus
}
#endif

#endif
