/**
 * @file moe_routing.h
 * @brief Chapter 18: the launches of chapters 13c, 14b, 15 and 16b as a library with a plain C interface.
 *
 * Calls do not check their arguments: the caller must check the problem with moe_routing_..._check() once. A call
 * returns the launch's error, or 0. It launches on `stream` of `device`, neither allocates nor synchronises (with the
 * exception below), and leaves the current device unchanged. Tensors are row-major, in that device's memory, 16-byte
 * aligned.
 *
 * Blocks synchronise through a workspace. A workspace belongs to one stream and one number of experts, and to one
 * capture if the stream is being captured, because a graph may run concurrently with the stream it was captured from.
 * The first call outside a capture allocates several workspaces and waits until they are zeroed; calls in a capture
 * only use workspaces that are already allocated.
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
/** Element types of tensors. */
enum moe_routing_dtype { MOE_ROUTING_F32, MOE_ROUTING_F16, MOE_ROUTING_BF16, MOE_ROUTING_I32, MOE_ROUTING_I64 };

/** Sizes and types of the gate's arguments. Scores are always sigmoids of the logits. */
struct moe_routing_gate_problem {
    int64_t num_tokens;
    int32_t num_experts, num_expert_group, topk_group, topk;
    int32_t dtype;      /**< type of gating_output: F32, F16 or BF16 */
    int32_t bias_dtype; /**< F32 or `dtype`; -1: no correction_bias */
    int32_t renormalize;
    float routed_scaling_factor;
};

/** Sizes and types of align's arguments. */
struct moe_routing_align_problem {
    int64_t numel; /**< elements of topk_ids */
    int32_t num_experts, block_size;
    int32_t dtype; /**< type of topk_ids: I32 or I64 */
};

/** Sizes of the layer's arguments. Tensors are bf16, but the weights of the experts' outputs are f32. */
struct moe_routing_layer_problem {
    int64_t num_tokens;
    int32_t hidden_size, intermediate_size, num_experts, topk;
    int32_t dtype; /**< type of topk_ids: I32 or I64 */
};
// [problems]

/**
 * Returns 0 if the library supports the problem; otherwise writes a line with the argument, its value and the limit to
 * `text`.
 */
int moe_routing_gate_check(const struct moe_routing_gate_problem *gate, char *text, size_t size);
int moe_routing_align_check(const struct moe_routing_align_problem *align, char *text, size_t size);
int moe_routing_layer_check(const struct moe_routing_layer_problem *layer, char *text, size_t size);

/** Returns the length of sorted_token_ids. The length of expert_ids is this length divided by block_size. */
int64_t moe_routing_capacity(const struct moe_routing_align_problem *align);

/**
 * Returns the size in bytes of the scratch memory that one call to the layer needs. The memory need not be initialised.
 */
size_t moe_routing_layer_scratch(const struct moe_routing_layer_problem *layer);

/** Chooses experts: topk_weights [num_tokens, topk] in f32, topk_ids [num_tokens, topk] in i32. */
int moe_routing_gate(const struct moe_routing_gate_problem *gate, int32_t device, cudaStream_t stream,
                     const void *gating_output, const void *correction_bias, float *topk_weights, int32_t *topk_ids);

/** Lists the rows of each expert, in blocks: sorted_token_ids, expert_ids and num_tokens_post_padded [1]. */
int moe_routing_align(const struct moe_routing_align_problem *align, int32_t device, cudaStream_t stream,
                      const void *topk_ids, int32_t *sorted_token_ids, int32_t *expert_ids,
                      int32_t *num_tokens_post_padded);

/**
 * Chooses experts and lists the rows, in one launch for up to 256 tokens. num_tokens_post_padded is -1 if the blocks of
 * that launch could not be co-resident.
 */
int moe_routing_route(const struct moe_routing_gate_problem *gate, int32_t block_size, int32_t device,
                      cudaStream_t stream, const void *gating_output, const void *correction_bias, float *topk_weights,
                      int32_t *topk_ids, int32_t *sorted_token_ids, int32_t *expert_ids,
                      int32_t *num_tokens_post_padded);

/** Computes each token's chosen experts and adds up their weighted outputs: `output` [num_tokens, hidden_size]. */
int moe_routing_layer(const struct moe_routing_layer_problem *layer, int32_t device, cudaStream_t stream,
                      const void *hidden, const void *w13, const void *w2, const void *topk_ids,
                      const float *topk_weights, void *output, void *scratch);

/** Returns a description of a call's error; on the simulator, a fault's report with file and line. */
const char *moe_routing_error(int error);

/** Allocate, copy and free device memory, for callers that do not use CUDA themselves. Return an error, or 0. */
int moe_routing_allocate(void **memory, size_t bytes);
int moe_routing_copy(void *to, const void *from, size_t bytes);
int moe_routing_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
