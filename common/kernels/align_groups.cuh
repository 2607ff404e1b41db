/**
 * @file align_groups.cuh
 * @brief Parts of chapter 14a's align that chapter 14b also uses: a compact problem, the number of row blocks, and
 *        padding. A row block is a block of block_size rows of the list.
 */
#ifndef KERNELS_ALIGN_GROUPS_CUH
#define KERNELS_ALIGN_GROUPS_CUH

#include "harness/align/align.h"

// [constants]
enum { WARP_SIZE = 32, STATIC_EXPERTS = 256 };
static const unsigned FULL_MASK = 0xffffffffu;
// [constants]

// [list]
/**
 * A problem and its buffers as kernel parameters, kept compact because every launch reads them from memory.
 * `padded_experts` is num_experts rounded up to a multiple of STATIC_EXPERTS; `capacity_blocks` is the length of
 * expert_ids.
 */
struct align_arguments {
    const void *topk_ids;
    int *sorted_token_ids, *expert_ids, *num_tokens_post_padded;
    const int *expert_map;
    int numel, num_experts, padded_experts, block_size;
    unsigned reciprocal; /* 0xffffffff / block_size */
    int capacity, capacity_blocks;
};

static __host__ __device__ int round_up(int count, int multiple)
{
    return (count + multiple - 1) / multiple * multiple;
}

static align_arguments align_arguments_of(const align_problem *problem, const align_buffers *buffers)
{
    return align_arguments{buffers->topk_ids,      buffers->sorted_token_ids,
                           buffers->expert_ids,    buffers->num_tokens_post_padded,
                           buffers->expert_map,    (int)problem->numel,
                           problem->num_experts,   round_up(problem->num_experts, STATIC_EXPERTS),
                           problem->block_size,    0xffffffffu / (unsigned)problem->block_size,
                           (int)problem->capacity, (int)(problem->capacity / problem->block_size)};
}
// [list]

// [helpers]
/**
 * Returns align.padded_experts. Kernels for up to STATIC_EXPERTS experts use the compile-time constant EXPERTS =
 * STATIC_EXPERTS; kernels for more experts have EXPERTS = 0.
 */
template <int EXPERTS>
static __device__ int padded_experts_of(const align_arguments &align)
{
    return EXPERTS ? EXPERTS : align.padded_experts;
}

/** Returns the expert that an id names, or -1 if it names none. */
template <typename Id>
static __device__ int expert_of(Id id, int num_experts)
{
    return ((id >= 0) & (id < num_experts)) ? (int)id : -1;
}

/**
 * Returns the number of row blocks that `count` < 2^31 ids need: count / block_size, rounded up. The quotient obtained
 * with the reciprocal is too small by at most 1.
 */
static __device__ int row_blocks_for(int count, const align_arguments &align)
{
    const unsigned quotient = __umulhi((unsigned)count, align.reciprocal);
    const unsigned remainder = (unsigned)count - quotient * (unsigned)align.block_size;

    return (int)(quotient + (remainder > 0) + (remainder > (unsigned)align.block_size));
}

/** Returns a mask of the lanes below this one. */
static __device__ unsigned lanes_below(int lane)
{
    return (1u << lane) - 1;
}
// [helpers]

// [warp_inclusive_scan]
/** Returns the inclusive scan of the lanes' values: the sum of this lane's value and those of the lanes below it. */
static __device__ __forceinline__ int warp_inclusive_scan(int value)
{
    const int lane = threadIdx.x % WARP_SIZE;

#pragma unroll
    for (int offset = 1; offset < WARP_SIZE; offset *= 2) {
        const int below = __shfl_up_sync(FULL_MASK, value, offset);

        value += below * (lane >= offset);
    }
    return value;
}
// [warp_inclusive_scan]

// [close]
/**
 * Writes an expert's padding and the owner of each of its row blocks. The group has `count` ids and begins at row block
 * `begin`. warps_per_group warps call this function together; `warp_in_group` is the calling warp's index among them.
 */
static __device__ void pad_group(const align_arguments &align, int expert, int count, int begin, int warp_in_group,
                                 int warps_per_group)
{
    const int thread = warp_in_group * WARP_SIZE + threadIdx.x % WARP_SIZE, num_threads = warps_per_group * WARP_SIZE;
    const int end = row_blocks_for(count, align) + begin;
    const int local = align.expert_map ? align.expert_map[expert] : expert;

#pragma unroll 1
    for (unsigned slot = begin * align.block_size + count + thread; slot < (unsigned)(end * align.block_size);
         slot += num_threads)
        align.sorted_token_ids[slot] = align.numel;
#pragma unroll 1
    for (int block = begin + thread; block < end; block += num_threads)
        align.expert_ids[block] = local;
}

/**
 * Writes everything after the last group: padding, and -1 as the owner of each row block. block_threads threads of
 * every block of the grid call this function together.
 */
static __device__ void pad_list(const align_arguments &align, int num_blocks, int block_threads)
{
    const int thread = blockIdx.x * block_threads + threadIdx.x, num_threads = gridDim.x * block_threads;

#pragma unroll 1
    for (unsigned slot = num_blocks * align.block_size + thread; slot < (unsigned)align.capacity; slot += num_threads)
        align.sorted_token_ids[slot] = align.numel;
#pragma unroll 1
    for (int block = num_blocks + thread; block < align.capacity_blocks; block += num_threads)
        align.expert_ids[block] = -1;
}
// [close]

#endif
