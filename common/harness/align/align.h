/**
 * @file align/align.h
 * @brief Align groups the tokens' expert choices by expert and pads each group to a multiple of the block size.
 *
 * The gate has chosen topk experts for every token. A matrix multiplication needs its rows sorted by expert, in blocks
 * of `block_size` rows that all belong to one expert. Align builds this list of rows: `sorted_token_ids` holds
 * positions in `topk_ids`, sorted by expert. This is the only harness header that a chapter's kernel and its main.c
 * need.
 */
#ifndef ALIGN_H
#define ALIGN_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The kernel to launch in a chapter that has a second kernel for small batches. */
enum align_kernel_choice { ALIGN_KERNEL_AUTO, ALIGN_KERNEL_LARGE, ALIGN_KERNEL_SMALL };

/** The shape and types of an align problem. */
struct align_problem {
    int64_t numel;    /**< number of ids, num_tokens * topk; at least 0 */
    int num_experts;  /**< number of experts; ids outside 0 .. num_experts - 1 are skipped */
    int block_size;   /**< rows per block; at least 1, not necessarily a power of two */
    int64_t capacity; /**< capacity of sorted_token_ids: a multiple of block_size that holds every group */
    bool wide_ids;    /**< whether topk_ids are i64 rather than i32 */
    enum align_kernel_choice kernel; /**< kernel selection; AUTO except in tests and figures */
    bool overlap; /**< whether blocks may start before the stream's previous kernel ends (chapter 17) */
};

/** Addresses of the tensors in device memory. */
struct align_buffers {
    const void *topk_ids;      /**< [numel] of i32, or of i64 with wide_ids */
    const int32_t *expert_map; /**< [num_experts] local id of each expert, or -1 if not local; NULL if all are local */
    int32_t *sorted_token_ids; /**< [capacity]; only 4-byte aligned; slots without a position hold numel */
    int32_t *expert_ids;       /**< [capacity / block_size]; -1 for a non-local expert and past the last block */
    int32_t *num_tokens_post_padded; /**< [1] */
    void *workspace;                 /**< [workspace_bytes], 256-byte aligned */
};

/**
 * Returns a capacity that suffices for any ids of this problem: each expert may need up to block_size - 1 padding
 * slots.
 */
static inline int64_t align_worst_case_capacity(const struct align_problem *problem)
{
    const int64_t slots = problem->numel + (int64_t)problem->num_experts * (problem->block_size - 1);

    return (slots + problem->block_size - 1) / problem->block_size * problem->block_size;
}

/**
 * Returns align_worst_case_capacity() or, if there are fewer ids than experts, the size of one block per id, because
 * each id opens at most one block.
 */
static inline int64_t align_worst_case_capacity_capped_by_ids(const struct align_problem *problem)
{
    return problem->numel < problem->num_experts ? problem->numel * problem->block_size
                                                 : align_worst_case_capacity(problem);
}

enum { ALIGN_MAX_KERNEL_SWITCHES = 8 };

/**
 * An implementation of align. `unsupported_reason` returns NULL if the problem is supported, else one line that names
 * the unsupported flag and the reason; a NULL pointer means that every problem is supported.
 */
struct align_implementation {
    const char *name;
    const char *own_kernels[3]; /**< names of the chapter's kernels, NULL-terminated; empty if there is no fallback */
    const char *fallback;  /**< what is launched where these are not, and what these are for: a text for the report */
    bool supports_overlap; /**< whether the launch honours align_problem.overlap */
    /**
     * Numbers of ids and of experts above which the implementation launches a different kernel; --check-all tries each
     * such number N and N + 1.
     */
    int64_t kernel_switch_ids[ALIGN_MAX_KERNEL_SWITCHES], kernel_switch_experts[ALIGN_MAX_KERNEL_SWITCHES];
    const char *(*unsupported_reason)(const struct align_problem *problem);
    int64_t (*capacity)(const struct align_problem *problem);       /**< default capacity of sorted_token_ids */
    size_t (*workspace_bytes)(const struct align_problem *problem); /**< workspace size in bytes, or NULL if none */
    bool workspace_must_be_zeroed; /**< whether the workspace is zeroed before the first launch, not left undefined */
    /** Returns the size in bytes of a block's shared memory if some GPUs offer less, else 0. A NULL pointer means 0. */
    size_t (*shared_bytes)(const struct align_problem *problem);
    /**
     * Returns true if the implementation guarantees that positions ascend in every group. A NULL pointer means false.
     */
    bool (*positions_ascend)(const struct align_problem *problem);
    /** Launches one or more kernels on `stream`. Returns the first error. Must not allocate or synchronise. */
    cudaError_t (*launch)(const struct align_problem *problem, const struct align_buffers *buffers,
                          cudaStream_t stream);
};

/**
 * A chapter's implementation and, in `previous`, the previous chapter's; in the first chapter, `previous.name` is NULL.
 */
struct align_chapter {
    struct align_implementation implementation;
    struct align_implementation previous;
};

/** Returns the size in bytes of a workspace that holds each expert's offset and the total: num_experts + 1 words. */
static inline size_t align_offsets_bytes(const struct align_problem *problem)
{
    return ((size_t)problem->num_experts + 1) * sizeof(int32_t);
}

/**
 * Number of 4-byte words in a 32-byte sector of global memory. We assume that L2 serialises atomics to the same sector.
 */
enum { ALIGN_SECTOR_WORDS = 8 };

/** Returns the size in bytes of a workspace that holds each expert's offset in a separate sector. */
static inline size_t align_sector_spaced_offsets_bytes(const struct align_problem *problem)
{
    return (size_t)problem->num_experts * ALIGN_SECTOR_WORDS * sizeof(int32_t);
}

/**
 * Launches align. Every align.cu defines this function; the build renames the previous chapter's definition to
 * align_launch_previous.
 */
cudaError_t align_launch(const struct align_problem *problem, const struct align_buffers *buffers, cudaStream_t stream);
cudaError_t align_launch_previous(const struct align_problem *problem, const struct align_buffers *buffers,
                                  cudaStream_t stream);

/**
 * Runs a chapter's program: parses the command line, loads the input, launches, checks and reports. Returns the
 * process's exit code.
 */
int align_main(int argc, char **argv, const struct align_chapter *chapter);

#ifdef __cplusplus
}
#endif

#endif
