/**
 * @file moe_routing.h
 * @brief Chapter 18: the launches of chapters 13c, 14b, 15 and 16b as a library with a plain C interface.
 *
 * A call checks nothing but returns the launch's error, 0 for none: the caller has asked moe_routing_..._check() once
 * for this problem. It launches on `stream` of `device`, neither allocates nor synchronises (but see below), and leaves
 * the current device as it was. Tensors are row-major, in memory of that device, and 16-byte aligned.
 *
 * Blocks that wait for each other meet in a workspace. Each stream has one for each number of experts, and so has each
 * stream of each capture, because a graph may run beside the stream from which it was captured. The first call outside
 * a capture allocates several at once and waits until they are zeros; captures only take from these.
 */
#ifndef MOE_ROUTING_H
#define MOE_ROUTING_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// [problems]
/** Types of tensors. */
enum moe_routing_dtype { MOE_ROUTING_F32, MOE_ROUTING_F16, MOE_ROUTING_BF16, MOE_ROUTING_I32, MOE_ROUTING_I64 };

/** The gate's arguments. Scores are sigmoids. */
struct moe_routing_gate_problem {
    int64_t num_tokens;
    int32_t num_experts, num_expert_group, topk_group, topk;
    int32_t dtype;      /**< of gating_output: F32, F16 or BF16 */
    int32_t bias_dtype; /**< F32 or `dtype`; -1: no correction_bias */
    int32_t renormalize;
    float routed_scaling_factor;
};

/** Align's arguments. */
struct moe_routing_align_problem {
    int64_t numel; /**< of topk_ids */
    int32_t num_experts, block_size;
    int32_t dtype; /**< of topk_ids: I32 or I64 */
};

/** The layer's arguments: bf16, weights of the experts' outputs in f32. */
struct moe_routing_layer_problem {
    int64_t num_tokens;
    int32_t hidden_size, intermediate_size, num_experts, topk;
    int32_t dtype; /**< of topk_ids: I32 or I64 */
};
// [problems]

/** Returns 0 if the library has a kernel for the problem; else writes one line: the argument, its value, the limit. */
int moe_routing_gate_check(const struct moe_routing_gate_problem *gate, char *text, size_t size);
int moe_routing_align_check(const struct moe_routing_align_problem *align, char *text, size_t size);
int moe_routing_layer_check(const struct moe_routing_layer_problem *layer, char *text, size_t size);

/** Returns the length of sorted_token_ids; that of expert_ids is this divided by block_size. */
int64_t moe_routing_capacity(const struct moe_routing_align_problem *align);

/** Returns the bytes of memory that a call of the layer uses beside its tensors; their values do not matter. */
size_t moe_routing_layer_scratch(const struct moe_routing_layer_problem *layer);

/** Chooses experts: topk_weights [num_tokens, topk] in f32, topk_ids [num_tokens, topk] in i32. */
int moe_routing_gate(const struct moe_routing_gate_problem *gate, int32_t device, cudaStream_t stream,
                     const void *gating_output, const void *correction_bias, float *topk_weights, int32_t *topk_ids);

/** Lists the rows of each expert. */
int moe_routing_align(const struct moe_routing_align_problem *align, int32_t device, cudaStream_t stream,
                      const void *topk_ids, int32_t *sorted_token_ids, int32_t *expert_ids,
                      int32_t *num_tokens_post_padded);

/** Does both, up to 256 tokens in one launch. num_tokens_post_padded is -1 if its blocks could not run together. */
int moe_routing_route(const struct moe_routing_gate_problem *gate, int32_t block_size, int32_t device,
                      cudaStream_t stream, const void *gating_output, const void *correction_bias, float *topk_weights,
                      int32_t *topk_ids, int32_t *sorted_token_ids, int32_t *expert_ids,
                      int32_t *num_tokens_post_padded);

/** Computes the chosen experts of each token and adds up their weighted outputs: `output` [num_tokens, H]. */
int moe_routing_layer(const struct moe_routing_layer_problem *layer, int32_t device, cudaStream_t stream,
                      const void *hidden, const void *w13, const void *w2, const void *topk_ids,
                      const float *topk_weights, void *output, void *scratch);

/** Returns what an error that a call has returned means, on the simulator with file and line. */
const char *moe_routing_error(int error);

/** Allocate, copy and free device memory, for callers that do not use CUDA themselves; they return an error, or 0. */
int moe_routing_allocate(void **memory, size_t bytes);
int moe_routing_copy(void *to, const void *from, size_t bytes);
int moe_routing_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
