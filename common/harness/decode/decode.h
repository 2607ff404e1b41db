/**
 * @file decode/decode.h
 * @brief The kernels of one layer's decoding step, in launch order: router, gate, align, layer.
 *
 * The router multiplies every token by one row of weights per expert. The router's logits are the gate's input, the
 * gate's choices are align's input, and the layer computes the rows that align has listed. This is the only harness
 * header that a chapter's kernel and its main.c need.
 */
#ifndef DECODE_H
#define DECODE_H

#include "harness/align/align.h"
#include "harness/gate/gate.h"
#include "harness/moe/moe.h"

#ifdef __cplusplus
extern "C" {
#endif

// [problem]
/** The kernels of a step, in launch order. */
enum decode_kernel { DECODE_ROUTER, DECODE_GATE, DECODE_ALIGN, DECODE_LAYER, NUM_DECODE_KERNELS };

/**
 * A decoding step. Its parts are consistent: the gate's tokens and experts are the layer's, and the gate's choices are
 * align's ids.
 */
struct decode_problem {
    struct gate_problem gate;
    struct align_problem align;
    struct moe_problem layer;
    unsigned launched;    /**< mask of kernels, such as 1 << DECODE_GATE; a step launches all, a benchmark only some */
    unsigned overlapping; /**< mask of the kernels whose launch overlaps the previous one */
};

/** Addresses of the tensors in device memory. The gate reads the router's logits, and align reads the gate's ids. */
struct decode_buffers {
    const void *router_weights; /**< [E, H] of the layer's type */
    float *gating_output;       /**< [num_tokens, E] logits */
    struct gate_buffers gate;
    struct align_buffers align;
    struct moe_buffers layer;
};
// [problem]

/** A chapter's kernels and their requirements. */
struct decode_chapter {
    const char *name;
    struct gpu_needs needs; /**< requirements that the GPU must meet */
    /** Returns one line with the unsupported flag and the reason, or NULL if the problem is supported. */
    const char *(*unsupported_reason)(const struct decode_problem *problem);
    struct moe_implementation layer;   /**< layer implementation; determines the block size and the workspace */
    struct align_implementation align; /**< align implementation; determines its workspace */
    /**
     * Launches the kernels on `stream`. Returns the first error. Must not allocate or synchronise. Not called if there
     * are no tokens.
     */
    cudaError_t (*launch)(const struct decode_problem *problem, const struct decode_buffers *buffers,
                          cudaStream_t stream);
};

/** Launches a step. Every decode.cu defines this function. */
cudaError_t decode_launch(const struct decode_problem *problem, const struct decode_buffers *buffers,
                          cudaStream_t stream);

/**
 * Runs a chapter's program: parses the command line, loads the input, launches, checks and reports. Returns the
 * process's exit code.
 */
int decode_main(int argc, char **argv, const struct decode_chapter *chapter);

#ifdef __cplusplus
}
#endif

#endif
