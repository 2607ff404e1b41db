/**
 * @file align_list.cuh
 * @brief Chapter 14's list of rows in pieces: a problem in short, blocks of rows, the end of a group and of the list.
 */
#ifndef KERNELS_ALIGN_LIST_CUH
#define KERNELS_ALIGN_LIST_CUH

#include "harness/align/align.h"

/**
 * A problem and its buffers, as the kernels want them: short, since a launch's parameters come from memory too.
 * `most_blocks` is what expert_ids has room for.
 */
struct list {
    int *sorted_token_ids, *expert_ids, *num_tokens_post_padded;
    const int *expert_map;
    int numel, block_size;
    unsigned reciprocal; /* 0xffffffff / block_size */
    int capacity, most_blocks;
};

static list list_of(const struct align_problem *problem, const struct align_buffers *buffers)
{
    return list{buffers->sorted_token_ids,
                buffers->expert_ids,
                buffers->num_tokens_post_padded,
                buffers->expert_map,
                (int)problem->numel,
                problem->block_size,
                0xffffffffu / (unsigned)problem->block_size,
                (int)problem->capacity,
                (int)(problem->capacity / problem->block_size)};
}

/** Blocks of rows for `count` ids, below 2^31: a division by block_size. The product is right or one too small. */
static __device__ __forceinline__ int blocks_for(int count, const list &list)
{
    const unsigned quotient = __umulhi((unsigned)count, list.reciprocal);
    const unsigned rest = (unsigned)count - quotient * (unsigned)list.block_size;

    return (int)(quotient + (rest > 0) + (rest > (unsigned)list.block_size));
}

/** A bit for each lane below this one. */
static __device__ __forceinline__ unsigned lanes_below(int lane)
{
    return (1u << lane) - 1;
}

/**
 * Writes an expert's pads and the owner of its blocks of rows. Its group has `count` ids and begins at `begin`, in blocks
 * of rows. A warp does it.
 */
static __device__ __forceinline__ void close_group(const list &list, int expert, int count, int begin)
{
    const int lane = threadIdx.x % 32, end = blocks_for(count, list) + begin;
    const int local = list.expert_map ? list.expert_map[expert] : expert;

#pragma unroll 1
    for (int place = begin * list.block_size + count + lane; place < end * list.block_size; place += 32)
        list.sorted_token_ids[place] = list.numel;
#pragma unroll 1
    for (int block = begin + lane; block < end; block += 32)
        list.expert_ids[block] = local;
}

/** Writes what lies past the last group: pads, and blocks of no expert. All threads of the grid do it together. */
static __device__ __forceinline__ void close_list(const list &list, int num_blocks)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, num_threads = gridDim.x * blockDim.x;

#pragma unroll 1
    for (int place = num_blocks * list.block_size + thread; place < list.capacity; place += num_threads)
        list.sorted_token_ids[place] = list.numel;
#pragma unroll 1
    for (int block = num_blocks + thread; block < list.most_blocks; block += num_threads)
        list.expert_ids[block] = -1;
}

#endif
