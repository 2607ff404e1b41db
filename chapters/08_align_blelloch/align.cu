/**
 * @file align.cu
 * @brief Chapter 08: the scan over the experts uses a tree of partial sums (Blelloch's scan).
 *
 * Before: one thread adds up num_experts counts, and one thread per expert writes all of the expert's expert_ids.
 * Now:    a tree sums the counts in 2 ceil(log2 num_experts) steps; a binary search finds the expert of each block of
 *         rows. Index padding removes most of the tree's bank conflicts.
 * Watch:  barriers 3 -> 2 ceil(log2 num_experts) + 2; bank conflicts of the tree, with and without index padding.
 */
#include "harness/align/align.h"

// [constants]
enum { WARP_SIZE = 32, THREADS = 1024, SCATTER_THREADS = 256 };
enum { SMALL_NUMEL = 1024, SMALL_EXPERTS = 64, MAX_SHARED_BYTES = 48 * 1024 };
// [constants]

// [helpers]
static __host__ __device__ int round_up(int count, int multiple)
{
    return (count + multiple - 1) / multiple * multiple;
}

/** Returns whether an id names an expert. All other ids are skipped and never used as an index. */
template <typename Id>
static __device__ bool is_expert(Id id, int num_experts)
{
    return (id >= 0) & (id < num_experts);
}

/** Returns the entry of expert_ids for an expert's blocks of rows: the expert's local id, or -1 if it is not local. */
static __device__ int local_id(const int *expert_map, int expert)
{
    return expert_map ? expert_map[expert] : expert;
}
// [helpers]

// [fill]
/** Writes a pad to every slot, 16 bytes per store. `thread` is the caller's index, from 0 to num_threads - 1. */
static __device__ void fill(const align_problem &problem, int *sorted_token_ids, int thread, int num_threads)
{
    const int pad = (int)problem.numel, capacity = (int)problem.capacity;
    const int unaligned = (int)(-(uintptr_t)sorted_token_ids % sizeof(int4) / sizeof(int)); /* words before alignment */
    const int head = unaligned < capacity ? unaligned : capacity;
    const int chunks = (capacity - head) / 4, tail_begin = head + 4 * chunks;
    int4 *const aligned = (int4 *)(sorted_token_ids + head);

    for (int chunk = thread; chunk < chunks; chunk += num_threads)
        aligned[chunk] = make_int4(pad, pad, pad, pad);
    if (thread < head)
        sorted_token_ids[thread] = pad;
    if (thread < capacity - tail_begin)
        sorted_token_ids[tail_begin + thread] = pad;
}
// [fill]

// [tree]
/** Returns the number of leaves of the tree: a power of two, at least two. */
static __host__ __device__ int leaves_for(int num_experts)
{
    int num_leaves = 2;

    while (num_leaves < num_experts)
        num_leaves *= 2;
    return num_leaves;
}
// [tree]

// [padded_index]
/** Returns the word that holds element i. With padding, elements a power of two apart are in different banks. */
static __host__ __device__ int padded_index(int i)
{
#ifdef PLAIN_TREE /* builds a variant without index padding, to count its bank conflicts */
    return i;
#else
    return i + i / 32 + i / 1024;
#endif
}
// [padded_index]

// [search]
/** Returns the expert that owns a slot: the last expert whose slots begin at or before this slot. */
static __device__ int expert_of_slot(const int *tree, int num_experts, int slot)
{
    int first = 0, end = num_experts;

    while (end - first > 1) {
        const int middle = (first + end) / 2;
        const bool begun = tree[padded_index(middle)] <= slot;

        first = begun ? middle : first;
        end = begun ? end : middle;
    }
    return first;
}
// [search]

// [align_kernel]
/**
 * Writes the pads, counts the ids, adds up the counts and writes expert_ids. Grid: one thread block. offsets[e] becomes
 * the slot where expert e's rows begin, and offsets[num_experts] the number of slots in use, num_tokens_post_padded.
 */
template <typename Id>
static __global__ void __launch_bounds__(THREADS)
    align_kernel(align_problem problem, const Id *__restrict__ topk_ids, const int *expert_map, int *sorted_token_ids,
                 int *expert_ids, int *num_tokens_post_padded, int *offsets)
{
    extern __shared__ int tree[]; /* first counts in the leaves, then sums; element i is in word padded_index(i) */
    __shared__ int total;
    const int num_experts = problem.num_experts, block_size = problem.block_size;
    const int num_row_blocks = (int)problem.capacity / block_size;
    const int thread = threadIdx.x, num_leaves = leaves_for(num_experts);

    /* A thread does not wait for its stores, but they hardly overlap with the counting (chapter 07's times). */
    fill(problem, sorted_token_ids, thread, THREADS);
    // [align_kernel]

    // [count]
    for (int e = thread; e < num_leaves; e += THREADS)
        tree[padded_index(e)] = 0;
    __syncthreads();
#pragma unroll 4
    for (int64_t i = thread; i < problem.numel; i += THREADS) {
        const Id id = topk_ids[i];

        if (is_expert(id, num_experts))
            atomicAdd(&tree[padded_index((int)id)], 1);
    }
    __syncthreads();
    // [count]

    // [up]
    for (int stride = 1; stride < num_leaves; stride *= 2) {
        const int right = 2 * stride * (thread + 1) - 1, left = right - stride;

        if (right < num_leaves) {
            if (stride == 1) { /* rounds the counts up to whole blocks of rows */
                tree[padded_index(left)] = round_up(tree[padded_index(left)], block_size);
                tree[padded_index(right)] = round_up(tree[padded_index(right)], block_size);
            }

            const int sum = tree[padded_index(left)] + tree[padded_index(right)];

            if (2 * stride == num_leaves) /* the root: only one thread is active, and no leaf precedes it */
                total = sum;
            tree[padded_index(right)] = 2 * stride == num_leaves ? 0 : sum;
        }
        __syncthreads();
    }
    // [up]

    // [down]
    for (int stride = num_leaves / 2; stride > 0; stride /= 2) {
        const int right = 2 * stride * (thread + 1) - 1, left = right - stride;

        if (right < num_leaves) {
            const int before = tree[padded_index(right)];

            tree[padded_index(right)] = before + tree[padded_index(left)];
            tree[padded_index(left)] = before;
        }
        __syncthreads();
    }
    // [down]

    // [offsets]
    for (int e = thread; e < num_experts; e += THREADS)
        offsets[e] = tree[padded_index(e)];
    if (thread == 0) {
        offsets[num_experts] = total;
        *num_tokens_post_padded = total;
    }
    // [offsets]

    // [expert_ids]
    for (int row_block = thread; row_block < num_row_blocks; row_block += THREADS)
        expert_ids[row_block] = row_block * block_size < total
                                    ? local_id(expert_map, expert_of_slot(tree, num_experts, row_block * block_size))
                                    : -1;
    // [expert_ids]
}

// [scatter]
/** Scatters the positions, one thread per id. Advances each expert's element of `offsets` past the assigned slots. */
template <typename Id>
static __global__ void scatter_kernel(align_problem problem, const Id *topk_ids, int *sorted_token_ids, int *offsets)
{
    const int64_t i = (int64_t)blockIdx.x * SCATTER_THREADS + threadIdx.x;

    if (i < problem.numel && is_expert(topk_ids[i], problem.num_experts))
        sorted_token_ids[atomicAdd(&offsets[topk_ids[i]], 1)] = (int)i;
}
// [scatter]

// [small]
/** Returns the small kernel's shared memory in bytes: offsets, a row of zeros, and a row of counters per thread. */
static size_t small_shared_bytes(int num_experts)
{
    return (num_experts + 1 + (size_t)(round_up(num_experts, WARP_SIZE) + 1) * num_experts) * sizeof(int);
}

/**
 * Runs the entire alignment in one kernel. Grid: one thread block of at least num_experts threads. Each thread counts
 * in its own row, without atomics. A scan down each expert's column then gives each thread the number of the expert's
 * ids that lower-numbered threads have counted.
 */
template <typename Id>
static __global__ void align_small_kernel(align_problem problem, const Id *topk_ids, const int *expert_map,
                                          int *sorted_token_ids, int *expert_ids, int *num_tokens_post_padded)
{
    extern __shared__ int offsets[]; /* [num_experts + 1] */
    const int num_experts = problem.num_experts, block_size = problem.block_size;
    const int num_row_blocks = (int)problem.capacity / block_size;
    const int thread = threadIdx.x, num_threads = blockDim.x;
    int *const sums = offsets + num_experts + 1; /* [num_threads + 1][num_experts]; row t: ids counted by threads < t */
    int *const next_ranks = sums + thread * num_experts, *const thread_counts = next_ranks + num_experts;
    // [small]

    // [small_count]
    fill(problem, sorted_token_ids, thread, num_threads); /* the barriers order the pads before the positions */
    for (int e = 0; e < num_experts; e++)
        thread_counts[e] = 0;
    for (int64_t i = thread; i < problem.numel; i += num_threads)
        if (is_expert(topk_ids[i], num_experts))
            thread_counts[topk_ids[i]]++;
    __syncthreads();
    // [small_count]

    // [small_columns]
    if (thread < num_experts) {
        sums[thread] = 0;
        for (int t = 1; t <= num_threads; t++)
            sums[t * num_experts + thread] += sums[(t - 1) * num_experts + thread];
    }
    __syncthreads();
    // [small_columns]

    // [small_offsets]
    if (thread == 0) {
        offsets[0] = 0;
        for (int e = 0; e < num_experts; e++)
            offsets[e + 1] = offsets[e] + round_up(sums[num_threads * num_experts + e], block_size);
        *num_tokens_post_padded = offsets[num_experts];
    }
    __syncthreads();
    // [small_offsets]

    // [small_scatter]
    if (thread < num_experts)
        for (int slot = offsets[thread]; slot < offsets[thread + 1]; slot += block_size)
            expert_ids[slot / block_size] = local_id(expert_map, thread);
    for (int row_block = offsets[num_experts] / block_size + thread; row_block < num_row_blocks;
         row_block += num_threads)
        expert_ids[row_block] = -1;
    for (int64_t i = thread; i < problem.numel; i += num_threads)
        if (is_expert(topk_ids[i], num_experts))
            sorted_token_ids[offsets[topk_ids[i]] + next_ranks[topk_ids[i]]++] = (int)i;
    // [small_scatter]
}

// [rule]
static bool takes_small(const align_problem *problem)
{
    if (problem->kernel != ALIGN_KERNEL_AUTO)
        return problem->kernel == ALIGN_KERNEL_SMALL;
    return problem->numel < SMALL_NUMEL && problem->num_experts <= SMALL_EXPERTS &&
           small_shared_bytes(problem->num_experts) <= MAX_SHARED_BYTES;
}
// [rule]

template <typename Id>
static cudaError_t launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const Id *const topk_ids = (const Id *)buffers->topk_ids;
    const unsigned scatter_blocks = (unsigned)((problem->numel + SCATTER_THREADS - 1) / SCATTER_THREADS);
    int *const offsets = (int *)buffers->workspace;

    if (takes_small(problem)) {
        align_small_kernel<Id>
            <<<1, round_up(problem->num_experts, WARP_SIZE), small_shared_bytes(problem->num_experts), stream>>>(
                *problem, topk_ids, buffers->expert_map, buffers->sorted_token_ids, buffers->expert_ids,
                buffers->num_tokens_post_padded);
        return cudaGetLastError();
    }
    // [launch]
    align_kernel<Id><<<1, THREADS, padded_index(leaves_for(problem->num_experts)) * sizeof(int), stream>>>(
        *problem, topk_ids, buffers->expert_map, buffers->sorted_token_ids, buffers->expert_ids,
        buffers->num_tokens_post_padded, offsets);
    // [launch]
    if (scatter_blocks > 0) /* an empty grid is a launch error */
        scatter_kernel<Id>
            <<<scatter_blocks, SCATTER_THREADS, 0, stream>>>(*problem, topk_ids, buffers->sorted_token_ids, offsets);
    return cudaGetLastError();
}

cudaError_t align_launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    return problem->wide_ids ? launch<int64_t>(problem, buffers, stream) : launch<int>(problem, buffers, stream);
}
