/**
 * @file gate/gate.h
 * @brief The gate chooses each token's experts and computes their weights.
 *
 * A router gives every token one logit per expert (`gating_output`). The gate turns logits into scores, keeps the best
 * `topk_group` of the `num_expert_group` groups, and chooses the best `topk` of their experts. This is the only harness
 * header that a chapter's kernel and its main.c need.
 */
#ifndef GATE_H
#define GATE_H

#include "harness/core/dtype.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gate_score { GATE_SCORE_SIGMOID, GATE_SCORE_SOFTMAX, GATE_SCORE_NONE };

// [problem]
/** The shape and types of a gate problem, and how its weights are computed. */
struct gate_problem {
    int64_t num_tokens;          /**< number of tokens, at least 0 */
    int num_experts;             /**< number of experts, a multiple of num_expert_group */
    int num_expert_group;        /**< number of groups; expert e is in group e / (num_experts / num_expert_group) */
    int topk_group;              /**< number of groups to keep */
    int topk;                    /**< experts per token, all from kept groups */
    enum dtype dtype;            /**< type of gating_output */
    enum gate_score score;       /**< how scores are computed from logits */
    bool has_bias;               /**< whether correction_bias is added; groups then rank by their best two, not one */
    enum dtype bias_dtype;       /**< type of correction_bias: f32 or the logits' type */
    bool renormalize;            /**< whether to divide a token's weights by their sum */
    float routed_scaling_factor; /**< factor applied to every weight; see scale_later */
    bool scale_later;            /**< whether the kernel that adds up the experts' outputs applies this factor */
    /**
     * Number of shared experts, which follow the chosen ones in every token's list. Their ids begin at num_experts;
     * their weight is the sum of the chosen scores / routed_scaling_factor.
     */
    int num_fused_shared_experts;
    bool overlap; /**< whether blocks may start before the stream's previous kernel ends (chapter 17) */
};

/** Returns the factor that the gate itself applies to every weight. */
static inline float gate_output_scale(const struct gate_problem *problem)
{
    return problem->scale_later ? 1.0f : problem->routed_scaling_factor;
}

/** Addresses of the tensors: in host memory if the chapter computes on the host, else in device memory. */
struct gate_buffers {
    const void *gating_output;   /**< [num_tokens, num_experts] of problem->dtype, row-major */
    const void *correction_bias; /**< [num_experts] of problem->bias_dtype; NULL without a bias */
    float *topk_weights;         /**< [num_tokens, topk + num_fused_shared_experts] */
    int32_t *topk_ids;           /**< [num_tokens, topk + num_fused_shared_experts], best first, then shared ones */
};
// [problem]

/** Returns the type in which experts are compared, the type that PyTorch gives score + bias: f32 if either is f32. */
static inline enum dtype gate_choice_dtype(const struct gate_problem *problem)
{
    return problem->has_bias && problem->bias_dtype == DTYPE_F32 ? DTYPE_F32 : problem->dtype;
}

enum { GATE_MAX_KERNEL_SWITCHES = 6 };

/**
 * An implementation of the gate. Exactly one of `compute_on_host` and `launch` is set. `unsupported_reason` returns
 * NULL if the problem is supported, else one line that names the unsupported flag and the reason; a NULL pointer means
 * that every problem is supported.
 */
struct gate_implementation {
    const char *name;
    const char *own_kernels[3]; /**< names of the chapter's kernels, NULL-terminated; empty if there is no fallback */
    const char *fallback; /**< what is launched where these are not, and what these are for: a text for the report */
    bool supports_shared_experts; /**< whether num_fused_shared_experts and scale_later are supported */
    bool supports_overlap;        /**< whether the launch honours gate_problem.overlap */
    /**
     * Numbers of tokens above which the implementation uses a different kernel or method; --check-all tries each such
     * number N and N + 1.
     */
    int64_t kernel_switch_tokens[GATE_MAX_KERNEL_SWITCHES];
    const char *(*unsupported_reason)(const struct gate_problem *problem);
    /** Computes the gate on the host. Returns false if out of memory. */
    bool (*compute_on_host)(const struct gate_problem *problem, const struct gate_buffers *buffers);
    /** Launches the kernels on `stream`; does nothing if there are no tokens. Returns the launch's error. */
    cudaError_t (*launch)(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream);
};

/**
 * A chapter's implementation and, in `previous`, the previous chapter's; in the first chapter, `previous.name` is NULL.
 */
struct gate_chapter {
    struct gate_implementation implementation;
    struct gate_implementation previous;
};

/**
 * Computes the gate on the host. Every gate.c defines this function; the build renames the previous chapter's
 * definition to gate_compute_on_host_previous.
 */
bool gate_compute_on_host(const struct gate_problem *problem, const struct gate_buffers *buffers);
bool gate_compute_on_host_previous(const struct gate_problem *problem, const struct gate_buffers *buffers);

/**
 * Launches the gate. Every gate.cu defines this function; the build renames the previous chapter's definition to
 * gate_launch_previous.
 */
cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream);
cudaError_t gate_launch_previous(const struct gate_problem *problem, const struct gate_buffers *buffers,
                                 cudaStream_t stream);

/**
 * Runs a chapter's program: parses the command line, loads the input, launches, checks and reports. Returns the
 * process's exit code.
 */
int gate_main(int argc, char **argv, const struct gate_chapter *chapter);

#ifdef __cplusplus
}
#endif

#endif
