/**
 * @file align.cu
 * @brief Chapter 14a: one launch, in which counting bits gives each id's rank.
 *
 * Before: block 0 counts while other blocks write pads; a second launch scatters; atomics order each group.
 * Now:    one launch for up to 4,096 ids. Every block counts all ids, marks those of its own experts as bits, and
 *         writes these experts' groups in ascending order. More ids fall back to chapter 10's kernels.
 * Watch:  only one launch; no atomic whose return value is used; each slot of the list is written only once.
 */
#include "few_ids.h"
#include "kernels/align_groups.cuh"
#include "kernels/overlap.cuh"

// [few_constants]
enum { MAX_THREADS = 1024, EXPERTS_PER_BLOCK = 4, WRITER_THREADS = 256, ROW_THREADS = 128, MAX_PAIRWISE_IDS = 8 };
// [few_constants]

// [few_blocks]
/**
 * Returns the same value as row_blocks_for() for up to 2^15 ids, in fewer instructions. The reciprocal is slightly
 * below 2^32 / block_size, so the upper half of the product is ceil(count / block_size) - 1 for every count above 0.
 */
static __device__ int row_blocks_for_few_ids(int count, const align_arguments &align)
{
    return (int)__umulhi((unsigned)count, align.reciprocal) + (count > 0);
}

/** Returns whether an id opens a row block. `rank` is the number of earlier ids of its expert. */
static __device__ bool begins_block(int rank, const align_arguments &align)
{
    return row_blocks_for_few_ids(rank + 1, align) > row_blocks_for_few_ids(rank, align);
}
// [few_blocks]

// [warp_ids]
/**
 * Aligns up to WARP_SIZE ids. Grid: one thread block per id; each thread block writes one row block. All warps read all
 * ids. An id opens a row block if the number of earlier ids of its expert is a multiple of block_size. ONE_BLOCK_EACH
 * is for at most MAX_PAIRWISE_IDS ids that fit into one row block, so that an expert opens at most one: pairwise
 * comparisons are then faster than a match instruction.
 */
template <typename Id, bool ONE_BLOCK_EACH>
static __global__ void __launch_bounds__(ROW_THREADS) align_warp_kernel(align_arguments align)
{
    const int thread = threadIdx.x, lane = thread % WARP_SIZE, own_position = blockIdx.x;

    wait_for_previous_kernel();
    const Id *const ids = (const Id *)align.topk_ids;
    const int expert = expert_of(lane < align.numel ? ids[lane] : (Id)-1, align.num_experts);
    const int own_expert = expert_of(own_position < align.numel ? ids[own_position] : (Id)-1, align.num_experts);
    int rank = 0; /* number of the expert's ids before this lane's id */

    if (ONE_BLOCK_EACH) {
#pragma unroll
        for (int k = 0; k < MAX_PAIRWISE_IDS - 1; k++)
            rank += (__shfl_sync(FULL_MASK, expert, k) == expert) & (k < lane);
    } else {
        rank = __popc(__match_any_sync(FULL_MASK, expert) & lanes_below(lane));
    }
    // [warp_ids]

    // [warp_votes]
    const bool opens = (expert >= 0) & (ONE_BLOCK_EACH ? rank == 0 : begins_block(rank, align));
    const bool precedes = (expert < own_expert) | (!ONE_BLOCK_EACH & (expert == own_expert) & (lane < own_position));
    const unsigned openers = __ballot_sync(FULL_MASK, opens),
                   openers_before = __ballot_sync(FULL_MASK, opens & precedes);
    const unsigned same = __ballot_sync(FULL_MASK, expert == own_expert);
    let_next_kernel_start();
    // [warp_votes]

    // [warp_index]
    const bool own_opens = openers >> own_position & 1;
    const unsigned own_ids = own_opens ? same & ~lanes_below(own_position) : 0;
    const int block = own_opens ? __popc(openers_before)
                                : __popc(openers) + __popc(~openers & lanes_below(own_position));
    const int slot = __popc(own_ids & lanes_below(lane));
    // [warp_index]

    // [warp_rows]
    int *const rows = align.sorted_token_ids + block * align.block_size;

    if (block < align.capacity_blocks) {
        if (thread < WARP_SIZE && own_ids >> lane & 1 && slot < align.block_size)
            rows[slot] = lane;
#pragma unroll 1
        for (int row = __popc(own_ids) + thread; row < align.block_size; row += ROW_THREADS)
            rows[row] = align.numel;
        if (thread == 0)
            align.expert_ids[block] = !own_opens ? -1 : align.expert_map ? align.expert_map[own_expert] : own_expert;
    }
    if (own_position == 0 && thread == 0)
        *align.num_tokens_post_padded = __popc(openers) * align.block_size;
    if (align.capacity_blocks > (int)gridDim.x)
        pad_list(align, gridDim.x, ROW_THREADS);
}
// [warp_rows]

// [few_shared]
/** Returns the number of 32-bit words needed for one bit per id, rounded up to a multiple of four. */
static __host__ __device__ int words_of_marks(int numel)
{
    return round_up(numel, 4 * WARP_SIZE) / WARP_SIZE;
}

static size_t few_shared_bytes(const align_arguments &align)
{
    return ((size_t)align.padded_experts + EXPERTS_PER_BLOCK * words_of_marks(align.numel)) * sizeof(int);
}
// [few_shared]

// [write_set_bits]
/**
 * For each set bit of `bits`, in ascending order, stores `first` plus the bit's index, which is a position, in a slot,
 * beginning at `ids`. Returns a pointer past the last slot written.
 */
static __device__ int *write_set_bits(int *ids, unsigned bits, int first)
{
#pragma unroll 1
    for (; bits != 0; bits &= bits - 1)
        *ids++ = first + __ffs((int)bits) - 1;
    return ids;
}
// [write_set_bits]

// [few]
/**
 * Aligns up to IDS_PER_THREAD * MAX_THREADS ids. Grid: one block for every EXPERTS_PER_BLOCK experts. Each block counts
 * all ids and writes the groups of its own experts.
 */
template <typename Id, int EXPERTS, int IDS_PER_THREAD>
static __global__ void __launch_bounds__(MAX_THREADS) align_few_kernel(align_arguments align)
{
    extern __shared__ int4 shared[];
    const int padded_experts = padded_experts_of<EXPERTS>(align), words = words_of_marks(align.numel);
    int *const counts = (int *)shared; /* [padded_experts] */
    unsigned *const marks = (unsigned *)counts +
                            padded_experts; /* [EXPERTS_PER_BLOCK][words]: per expert, one bit for each id */
    const int thread = threadIdx.x, lane = thread % WARP_SIZE, warp = thread / WARP_SIZE, num_threads = blockDim.x;
    const int first_own = blockIdx.x * EXPERTS_PER_BLOCK;
    Id ids[IDS_PER_THREAD];

#pragma unroll 1
    for (int i = thread; i < (padded_experts + EXPERTS_PER_BLOCK * words) / 4; i += num_threads)
        shared[i] = make_int4(0, 0, 0, 0);
    wait_for_previous_kernel();
#pragma unroll
    for (int k = 0; k < IDS_PER_THREAD; k++) {
        const int i = thread + k * num_threads;

        ids[k] = i < align.numel ? ((const Id *)align.topk_ids)[i] : (Id)-1;
    }
    // [few]

    // [few_count]
    __syncthreads();
#pragma unroll
    for (int k = 0; k < IDS_PER_THREAD; k++) {
        const int expert = expert_of(ids[k], align.num_experts), index_in_block = expert - first_own;

        if (expert >= 0)
            atomicAdd(&counts[expert], 1);
        if (expert >= 0 && (unsigned)index_in_block < EXPERTS_PER_BLOCK)
            atomicOr(&marks[index_in_block * words + warp + k * (num_threads / WARP_SIZE)], 1u << lane);
    }
    __syncthreads();
    // [few_count]

    // [few_begins]
    let_next_kernel_start();
    if (thread >= WRITER_THREADS)
        return;
    const int own_index = warp % EXPERTS_PER_BLOCK, own_expert = first_own + own_index;
    int total = 0, begin = 0;

#pragma unroll(EXPERTS ? STATIC_EXPERTS / 4 / WARP_SIZE : 1)
    for (int e = 4 * lane; e < padded_experts; e += 4 * WARP_SIZE) {
        const int4 four = *(const int4 *)&counts[e];
        const int blocks[4] = {row_blocks_for_few_ids(four.x, align), row_blocks_for_few_ids(four.y, align),
                               row_blocks_for_few_ids(four.z, align), row_blocks_for_few_ids(four.w, align)};

#pragma unroll
        for (int k = 0; k < 4; k++) {
            total += blocks[k];
            begin += blocks[k] * (e + k < own_expert);
        }
    }
    total = __reduce_add_sync(FULL_MASK, total);
    begin = __reduce_add_sync(FULL_MASK, begin);
    // [few_begins]

    // [few_write]
    if (warp < EXPERTS_PER_BLOCK) {    /* one warp per expert stores positions; the others write the pads */
        unsigned bits[IDS_PER_THREAD]; /* the lane's IDS_PER_THREAD words of the expert's bits */
        int count = 0;

#pragma unroll
        for (int k = 0; k < IDS_PER_THREAD; k++) {
            bits[k] = lane * IDS_PER_THREAD + k < words ? marks[own_index * words + lane * IDS_PER_THREAD + k] : 0;
            count += __popc(bits[k]);
        }
        int *next_slot = align.sorted_token_ids + begin * align.block_size + warp_inclusive_scan(count) - count;

#pragma unroll
        for (int k = 0; k < IDS_PER_THREAD; k++)
            next_slot = write_set_bits(next_slot, bits[k], (lane * IDS_PER_THREAD + k) * WARP_SIZE);
    } else if (own_expert < align.num_experts) {
        pad_group(align, own_expert, counts[own_expert], begin, 0, 1);
    }
    pad_list(align, total, WRITER_THREADS);
    if (blockIdx.x == 0 && thread == 0)
        *align.num_tokens_post_padded = total * align.block_size;
    // [few_write]
}

// [launch_few]
/** Launches one block for every EXPERTS_PER_BLOCK experts; each thread counts up to IDS_PER_THREAD ids. */
template <typename Id, int EXPERTS, int IDS_PER_THREAD>
static cudaError_t launch_blocks(const align_arguments &align, bool overlap, cudaStream_t stream)
{
    const int blocks = (align.num_experts + EXPERTS_PER_BLOCK - 1) / EXPERTS_PER_BLOCK;
    const int counting_threads = round_up(align.numel, WARP_SIZE * IDS_PER_THREAD) / IDS_PER_THREAD,
              threads = counting_threads > WRITER_THREADS ? counting_threads : WRITER_THREADS;

    return launch_overlapping(overlap, align_few_kernel<Id, EXPERTS, IDS_PER_THREAD>, blocks, threads,
                              few_shared_bytes(align), stream, align);
}

template <typename Id, int EXPERTS>
static cudaError_t launch_few(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const align_arguments align = align_arguments_of(problem, buffers);
    const int blocks = align.numel > 0 ? align.numel : 1; /* an empty grid is a launch error */
    const bool overlap = problem->overlap;

    if (align.numel <= MAX_PAIRWISE_IDS && align.numel <= align.block_size)
        return launch_overlapping(overlap, align_warp_kernel<Id, true>, blocks, ROW_THREADS, 0, stream, align);
    if (align.numel <= WARP_SIZE)
        return launch_overlapping(overlap, align_warp_kernel<Id, false>, blocks, ROW_THREADS, 0, stream, align);
    if (align.numel <= MAX_THREADS)
        return launch_blocks<Id, EXPERTS, 1>(align, overlap, stream);
    if (align.numel <= 2 * MAX_THREADS)
        return launch_blocks<Id, EXPERTS, 2>(align, overlap, stream);
    return launch_blocks<Id, EXPERTS, 4>(align, overlap, stream);
}
// [launch_few]

// [launch]
/** Launches chapter 10's kernels, which handle any number of ids. */
extern "C" cudaError_t align_launch_any_size(const align_problem *problem, const align_buffers *buffers,
                                             cudaStream_t stream);

template <typename Id>
static cudaError_t launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    return problem->num_experts > STATIC_EXPERTS ? launch_few<Id, 0>(problem, buffers, stream)
                                                 : launch_few<Id, STATIC_EXPERTS>(problem, buffers, stream);
}

cudaError_t align_launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    if (!align_is_few(problem))
        return align_launch_any_size(problem, buffers, stream);
    return problem->wide_ids ? launch<int64_t>(problem, buffers, stream) : launch<int>(problem, buffers, stream);
}
// [launch]
