/**
 * @file moe/moe.h
 * @brief The layer computes each token's chosen experts and adds up their weighted outputs.
 *
 * The gate has chosen topk experts for every token; align has sorted these choices by expert into blocks of rows. An
 * expert is a small network: a product with w13, whose two halves SwiGLU combines, and a product with w2. This is the
 * only harness header that a chapter's kernel and its main.c need.
 */
#ifndef MOE_H
#define MOE_H

#include "harness/core/dtype.h"
#include "harness/core/gpu_needs.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// [problem]
/** The shape and type of a layer. */
struct moe_problem {
    int64_t num_tokens;    /**< number of tokens, at least 0; num_tokens * topk is at most 2147483647 */
    int hidden_size;       /**< H, number of elements per token */
    int intermediate_size; /**< I, number of elements between an expert's two products */
    int num_experts;       /**< E, number of experts in the layer */
    int num_local_experts; /**< L, number of local experts; E without an expert_map */
    int topk;              /**< number of experts per token */
    enum dtype dtype;      /**< type of hidden, the weights, intermediate results and the output: f32 or bf16 */
    int block_size;        /**< rows in a block of sorted_token_ids; all of them belong to one expert */
    int64_t capacity;      /**< length of sorted_token_ids, a multiple of block_size */
    bool overlap;          /**< whether blocks may start before the stream's previous kernel ends (chapter 17) */
};

/**
 * The tensors in device memory: row-major, each 256-byte aligned. A position is an index into topk_ids: choice k of
 * token t has position t * topk + k. `intermediate` and `partial` have one row per position.
 */
struct moe_buffers {
    const void *hidden;                    /**< [num_tokens, H] of problem->dtype */
    const void *w13;                       /**< [L, 2I, H]: an expert's gate rows, then its up rows */
    const void *w2;                        /**< [L, H, I] */
    const float *topk_weights;             /**< [num_tokens, topk] */
    const int32_t *sorted_token_ids;       /**< [capacity] positions, sorted by expert; num_tokens * topk is a pad */
    const int32_t *expert_ids;             /**< [capacity / block_size] local expert of each block, or -1 */
    const int32_t *num_tokens_post_padded; /**< [1] number of slots in use; later blocks have no rows */
    void *intermediate; /**< [num_tokens * topk, I] workspace, problem->dtype: silu(gate) * up; undefined at first */
    void *partial;      /**< [num_tokens * topk, H] workspace, problem->dtype: weight * expert's output */
    void *output;       /**< [num_tokens, H] of problem->dtype */
    void *workspace;    /**< [workspace_bytes] scratch memory of the implementation */
};
// [problem]

/**
 * Returns the number of choices, each of which has a position in topk_ids; it is also the padding value in
 * sorted_token_ids.
 */
static inline int64_t moe_num_choices(const struct moe_problem *problem)
{
    return problem->num_tokens * problem->topk;
}

enum { MOE_MAX_KERNEL_SWITCHES = 4 };

/**
 * An implementation of the layer. Products and sums are in f32; intermediate, partial and output are rounded to the
 * type. `unsupported_reason` returns NULL if the problem is supported, else one line that names the unsupported flag
 * and the reason; a NULL pointer means that every problem is supported.
 */
struct moe_implementation {
    const char *name;
    const char *own_kernels[3]; /**< names of the chapter's kernels, NULL-terminated; empty if there is no fallback */
    const char *fallback;   /**< what is launched where these are not, and what these are for: a text for the report */
    struct gpu_needs needs; /**< requirements that the GPU must meet; all zero if there are none */
    /**
     * Numbers of tokens above which the implementation uses a different kernel or method; --check-all tries each such
     * number N and N + 1.
     */
    int64_t kernel_switch_tokens[MOE_MAX_KERNEL_SWITCHES];
    const char *(*unsupported_reason)(const struct moe_problem *problem);
    /** Returns the default of --block-size; the capacity is not set yet. A NULL pointer means 16. */
    int (*block_size)(const struct moe_problem *problem);
    size_t (*workspace_bytes)(const struct moe_problem *problem); /**< workspace size in bytes, or NULL if none */
    bool workspace_must_be_zeroed; /**< whether the workspace is zeroed before the first launch, not left undefined */
    int64_t bench_max_tokens;      /**< largest size of a --bench sweep, to limit its run time; 0 for no limit */
    /**
     * Launches the kernels on `stream`. Returns the first error. Must not allocate or synchronise. Not called if there
     * are no tokens.
     */
    cudaError_t (*launch)(const struct moe_problem *problem, const struct moe_buffers *buffers, cudaStream_t stream);
};

/**
 * A chapter's implementation and, in `previous`, the previous chapter's; in the first chapter, `previous.name` is NULL.
 */
struct moe_chapter {
    struct moe_implementation implementation;
    struct moe_implementation previous;
};

/**
 * Launches the layer. Every moe.cu defines this function; the build renames the previous chapter's definition to
 * moe_launch_previous.
 */
cudaError_t moe_launch(const struct moe_problem *problem, const struct moe_buffers *buffers, cudaStream_t stream);
cudaError_t moe_launch_previous(const struct moe_problem *problem, const struct moe_buffers *buffers,
                                cudaStream_t stream);

/**
 * Runs a chapter's program: parses the command line, loads the input, launches, checks and reports. Returns the
 * process's exit code.
 */
int moe_main(int argc, char **argv, const struct moe_chapter *chapter);

#ifdef __cplusplus
}
#endif

#endif
