/**
 * @file gate/gate.h
 * @brief The gate: which experts a token goes to, and with what weight.
 *
 * A router gives every token one logit per expert (`gating_output`). The gate turns logits into scores, keeps the best
 * `topk_group` of the `num_expert_group` groups, and of their experts the best `topk`. This header is all that a
 * chapter's kernel and its main.c need.
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
/** One gate problem: its shape, its types and what is done with the weights. */
struct gate_problem {
    int64_t num_tokens;          /**< at least 0 */
    int num_experts;             /**< a multiple of num_expert_group */
    int num_expert_group;        /**< expert e is in group e / (num_experts / num_expert_group) */
    int topk_group;              /**< groups that stay */
    int topk;                    /**< experts per token, all from groups that stay */
    enum dtype dtype;            /**< of gating_output */
    enum gate_score score;       /**< how a logit becomes a score */
    bool has_bias;               /**< choose by score + correction_bias; a group counts its two best, not its best */
    enum dtype bias_dtype;       /**< f32, or the logits' own type */
    bool renormalize;            /**< divide a token's weights by their sum */
    float routed_scaling_factor; /**< what every weight is multiplied with at the end... */
    bool scale_later;            /**< ... unless whoever adds up the experts' outputs does it */
    /**
     * Experts that every token has, behind those chosen: ids from num_experts on, weight sum / routed_scaling_factor.
     */
    int num_fused_shared_experts;
};

/** What every weight is multiplied with at the end. */
static inline float gate_output_scale(const struct gate_problem *problem)
{
    return problem->scale_later ? 1.0f : problem->routed_scaling_factor;
}

/** Where the tensors lie: host memory for a chapter that computes on the host, device memory for one that launches. */
struct gate_buffers {
    const void *gating_output;   /**< [num_tokens, num_experts] of problem->dtype, row-major */
    const void *correction_bias; /**< [num_experts] of problem->bias_dtype; NULL without a bias */
    float *topk_weights;         /**< [num_tokens, topk + num_fused_shared_experts] */
    int32_t *topk_ids;           /**< [num_tokens, topk + num_fused_shared_experts], best first, then the shared ones */
};
// [problem]

/** The type that PyTorch gives score + bias, in which experts are compared: f32 if one of the two is. */
static inline enum dtype gate_choice_dtype(const struct gate_problem *problem)
{
    return problem->has_bias && problem->bias_dtype == DTYPE_F32 ? DTYPE_F32 : problem->dtype;
}

/**
 * One way to compute the gate. Exactly one of `compute` and `launch` is set. `unsupported_reason` returns NULL, or one
 * line that names the flag it cannot take and why; NULL in its place takes everything.
 */
struct gate_implementation {
    const char *name;
    bool takes_shared_experts; /**< and scale_later */
    const char *(*unsupported_reason)(const struct gate_problem *problem);
    /** Computes on the host. Returns false when memory runs out. */
    bool (*compute)(const struct gate_problem *problem, const struct gate_buffers *buffers);
    /** Launches on `stream`. Returns the launch's error. No tokens: launches nothing. */
    cudaError_t (*launch)(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream);
};

/** What one chapter is: its implementation, and the implementation of the chapter before it (no name in the first). */
struct gate_chapter {
    struct gate_implementation implementation;
    struct gate_implementation before;
};

/** Every gate.c defines this one; the build gives the chapter before the name gate_compute_before. */
bool gate_compute(const struct gate_problem *problem, const struct gate_buffers *buffers);
bool gate_compute_before(const struct gate_problem *problem, const struct gate_buffers *buffers);

/** Every gate.cu defines this one; the build gives the chapter before the name gate_launch_before. */
cudaError_t gate_launch(const struct gate_problem *problem, const struct gate_buffers *buffers, cudaStream_t stream);
cudaError_t gate_launch_before(const struct gate_problem *problem, const struct gate_buffers *buffers,
                               cudaStream_t stream);

/** Runs a chapter's program: command line, input, launch, check, report. Returns the process's exit code. */
int gate_main(int argc, char **argv, const struct gate_chapter *chapter);

#ifdef __cplusplus
}
#endif

#endif
