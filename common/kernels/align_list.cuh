/**
 * @file align_list.cuh
 * @brief Chapter 15's versions of parts of chapter 14a's align: a compact problem, the number of row blocks, and
 *        padding. A row block is a block of block_size rows of the list.
 */
#ifndef KERNELS_ALIGN_LIST_CUH
#define KERNELS_ALIGN_LIST_CUH

#include "harness/align/align.h"

/**
 * A problem and its buffers as kernel parameters, kept compact because every launch reads them from memory.
 * `capacity_blocks` is the length of expert_ids.
 */
struct align_arguments {
    int *sorted_token_ids, *expert_ids, *num_tokens_post_padded;
    const int *expert_map;
    int numel, block_size;
    unsigned reciprocal, addend; /* multiplier and addend in row_blocks_for_few_ids() */
    int capacity, capacity_blocks;
};

// [few_blocks]
enum { MAX_GROUP_IDS = 512 }; /* maximum number of ids in a group */

static align_arguments align_arguments_of(const struct align_problem *problem, const struct align_buffers *buffers)
{
    const unsigned divisor = problem->block_size < MAX_GROUP_IDS ? (unsigned)problem->block_size
                                                                 : (unsigned)MAX_GROUP_IDS;
    const unsigned reciprocal = ((1u << 20) + divisor - 1) / divisor;

    return align_arguments{buffers->sorted_token_ids,
                           buffers->expert_ids,
                           buffers->num_tokens_post_padded,
                           buffers->expert_map,
                           (int)problem->numel,
                           problem->block_size,
                           reciprocal,
                           (divisor - 1) * reciprocal,
                           (int)problem->capacity,
                           (int)(problem->capacity / problem->block_size)};
}

/**
 * Returns the number of row blocks for up to MAX_GROUP_IDS ids: n / divisor with n = count + divisor - 1, computed
 * as a product with a 20-bit reciprocal. `addend` is (divisor - 1) * reciprocal. The product is too large by less than
 * n / 2^20, while n / divisor is at least 1 / divisor below the next integer. Because n * divisor is at most
 * 1,023 * 512 < 2^20, the quotient is exact.
 */
static __device__ __forceinline__ int row_blocks_for_few_ids(int count, const align_arguments &align)
{
    return (int)(((unsigned)count * align.reciprocal + align.addend) >> 20);
}
// [few_blocks]

// [close]
/**
 * Writes an expert's padding and the owner, `local_id`, of each of its row blocks. The group has `count` ids and
 * begins at row block `begin`. All lanes of a warp call this together.
 */
static __device__ __forceinline__ void pad_group(const align_arguments &align, int local_id, int count, int begin)
{
    const int lane = threadIdx.x % 32, end = row_blocks_for_few_ids(count, align) + begin;

#pragma unroll 1
    for (unsigned slot = begin * align.block_size + count + lane; slot < (unsigned)(end * align.block_size); slot += 32)
        align.sorted_token_ids[slot] = align.numel;
#pragma unroll 1
    for (int block = begin + lane; block < end; block += 32)
        align.expert_ids[block] = local_id;
}

/**
 * Writes everything after the last group: padding, and -1 as the owner of each row block. All threads of the grid
 * must call it.
 */
static __device__ __forceinline__ void pad_list(const align_arguments &align, int num_blocks)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, num_threads = gridDim.x * blockDim.x;

#pragma unroll 1
    for (unsigned slot = num_blocks * align.block_size + thread; slot < (unsigned)align.capacity; slot += num_threads)
        align.sorted_token_ids[slot] = align.numel;
#pragma unroll 1
    for (int block = num_blocks + thread; block < align.capacity_blocks; block += num_threads)
        align.expert_ids[block] = -1;
}
// [close]

#endif
