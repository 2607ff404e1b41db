/**
 * @file align/align.h
 * @brief Align: the tokens' choices, grouped by expert, each group padded to whole blocks.
 *
 * The gate has chosen topk experts for every token. A matrix multiplication wants its rows expert by expert, in blocks
 * of `block_size` rows that all belong to one expert. Align makes the list of rows: `sorted_token_ids` holds positions
 * in `topk_ids`, expert by expert. This header is all that a chapter's kernel and its main.c need.
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

/** Which kernel to launch, where a chapter has one for small batches beside the one for all. */
enum align_kernel { ALIGN_KERNEL_AUTO, ALIGN_KERNEL_LARGE, ALIGN_KERNEL_SMALL };

/** One align problem: its shape and its types. */
struct align_problem {
    int64_t numel;            /**< ids there are, num_tokens * topk; at least 0 */
    int num_experts;          /**< ids outside 0 .. num_experts - 1 are skipped */
    int block_size;           /**< rows in a block; at least 1, not only powers of two */
    int64_t capacity;         /**< of sorted_token_ids, a multiple of block_size up to 2147483647; holds every group */
    bool wide_ids;            /**< topk_ids are i64, not i32 */
    enum align_kernel kernel; /**< AUTO outside tests and figures */
};

/** Where the tensors lie, in device memory. */
struct align_buffers {
    const void *topk_ids;      /**< [numel] of i32, or of i64 with wide_ids */
    const int32_t *expert_map; /**< [num_experts], the local id or -1 of each expert; NULL: every expert is local */
    int32_t *sorted_token_ids; /**< [capacity]; 4-byte aligned, no more. Holds numel where it holds no position */
    int32_t *expert_ids;       /**< [capacity / block_size]; -1 for a non-local expert and past the last block */
    int32_t *num_tokens_post_padded; /**< [1] */
    void *workspace;                 /**< [workspace_bytes], 256-byte aligned */
};

/** The least capacity that holds any ids of this problem: every expert may waste block_size - 1 places. */
static inline int64_t align_capacity(const struct align_problem *problem)
{
    const int64_t places = problem->numel + (int64_t)problem->num_experts * (problem->block_size - 1);

    return (places + problem->block_size - 1) / problem->block_size * problem->block_size;
}

/** As align_capacity(), knowing that fewer ids than experts open at most a block each. */
static inline int64_t align_capacity_of_few(const struct align_problem *problem)
{
    return problem->numel < problem->num_experts ? problem->numel * problem->block_size : align_capacity(problem);
}

/**
 * One way to align. `unsupported_reason` returns NULL, or one line that names the flag it cannot take and why; NULL in
 * its place takes everything.
 */
struct align_implementation {
    const char *name;
    const char *(*unsupported_reason)(const struct align_problem *problem);
    int64_t (*capacity)(const struct align_problem *problem); /**< of sorted_token_ids, unless the user gives one */
    size_t (*workspace_bytes)(const struct align_problem *problem); /**< besides the tensors; NULL: none */
    bool workspace_zeroed; /**< it holds zeros before the first launch, then what the last one left; else anything */
    /** Shared memory that a block needs, if that is more than every GPU has; else 0. NULL: never. */
    size_t (*shared_bytes)(const struct align_problem *problem);
    /** Whether it promises ascending positions in every group of this problem. NULL: never. */
    bool (*ascending)(const struct align_problem *problem);
    /** Launches on `stream`, once or more. Returns the first error. Must not allocate or synchronise. */
    cudaError_t (*launch)(const struct align_problem *problem, const struct align_buffers *buffers,
                          cudaStream_t stream);
};

/** What one chapter is: its implementation, and the implementation of the chapter before it (no name in the first). */
struct align_chapter {
    struct align_implementation implementation;
    struct align_implementation before;
};

/** A workspace for the sum of the groups before each expert, and of all: num_experts + 1 words. */
static inline size_t align_offsets_bytes(const struct align_problem *problem)
{
    return ((size_t)problem->num_experts + 1) * sizeof(int32_t);
}

/** A sector of global memory, 32 bytes, in words. Our guess is that L2 takes the atomics of one sector in turn. */
enum { ALIGN_SECTOR_WORDS = 8 };

/** A workspace for the sum before each expert in a sector of its own. */
static inline size_t align_spread_offsets_bytes(const struct align_problem *problem)
{
    return (size_t)problem->num_experts * ALIGN_SECTOR_WORDS * sizeof(int32_t);
}

/** Every align.cu defines this one; the build gives the chapter before the name align_launch_before. */
cudaError_t align_launch(const struct align_problem *problem, const struct align_buffers *buffers, cudaStream_t stream);
cudaError_t align_launch_before(const struct align_problem *problem, const struct align_buffers *buffers,
                                cudaStream_t stream);

/** Runs a chapter's program: command line, input, launch, check, report. Returns the process's exit code. */
int align_main(int argc, char **argv, const struct align_chapter *chapter);

#ifdef __cplusplus
}
#endif

#endif
