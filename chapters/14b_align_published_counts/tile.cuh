/**
 * @file chapters/14b_align_published_counts/tile.cuh
 * @brief A block's tile of ids: ranks from bits as in chapter 14a, with one column of words per expert, and the ids
 * sorted by expert in shared memory.
 */
#ifndef ALIGN_TILE_CUH
#define ALIGN_TILE_CUH

#include "kernels/align_groups.cuh"

#include <limits.h>

// [tile_constants]
/* A bit stands for a run of 2^LOG_LONG_RUN ids. The longest tiles have LONG_TILE_IDS_PER_THREAD ids per thread. */
enum { LOG_LONG_RUN = 3, LONG_TILE_IDS_PER_THREAD = 16 };
// [tile_constants]

// [many_shared]
/** The shared memory of a thread block of align_many_kernel. */
template <int EXPERTS, int THREADS, int IDS_PER_THREAD>
struct many_shared {
    static constexpr int WARPS = THREADS / WARP_SIZE, TILE = THREADS * IDS_PER_THREAD;
    static constexpr int WORDS = TILE >> LOG_LONG_RUN >> 5; /* one bit per run of ids of a tile */
    int padded_experts;                                     /* num_experts rounded up: EXPERTS, unless that is 0 */
    int *warp_sums;                                         /* [padded_experts / WARP_SIZE] */
    int *part_counts;      /* [padded_experts] number of ids in this block's part, except for its last tile */
    int *tile_counts;      /* [padded_experts] number of ids in the tile */
    int *tile_begins;      /* [padded_experts] first index of the expert's ids in `staged` */
    int *counts;           /* [padded_experts] number of ids in all blocks */
    int *begins;           /* [padded_experts] the group's first row block */
    int *cursors;          /* [padded_experts] end of the slots that this block has yet to write */
    unsigned *staged;      /* [TILE] the tile's ids, sorted by expert: expert * 65536 + position */
    unsigned *marks;       /* [WORDS][padded_experts] a run's bit is set if the run has an id of the expert */
    unsigned short *bases; /* [WORDS][padded_experts] number of bits set in the expert's words before this one */
    int *partial;          /* [teams][2][padded_experts], in the memory of marks */

    /**
     * Returns the number of teams of threads that read count rows at the same time. A team has one thread per word of a
     * count row.
     */
    static __host__ __device__ int teams(int words)
    {
        return words < THREADS ? THREADS / words : 1;
    }

    static size_t bytes(int padded_experts, int words)
    {
        const size_t marking = (size_t)WORDS * padded_experts * (sizeof(unsigned) + sizeof(unsigned short));
        const size_t reading = (size_t)2 * teams(words) * padded_experts * sizeof(int);

        return ((size_t)7 * padded_experts + TILE) * sizeof(int) + (marking > reading ? marking : reading);
    }

    __device__ many_shared(int4 *shared, const align_arguments &align)
        : padded_experts(padded_experts_of<EXPERTS>(align))
    {
        warp_sums = (int *)shared;
        part_counts = warp_sums + padded_experts;
        tile_counts = part_counts + padded_experts;
        tile_begins = tile_counts + padded_experts;
        counts = tile_begins + padded_experts;
        begins = counts + padded_experts;
        cursors = begins + padded_experts;
        staged = (unsigned *)(cursors + padded_experts);
        partial = (int *)(staged + TILE);
        marks = staged + TILE;
        bases = (unsigned short *)(marks + WORDS * padded_experts);
    }
};
// [many_shared]

// [exclusive_scan_experts]
/**
 * Returns the thread's next expert. If there is one thread per expert, the compiler can see that loops run at most
 * once.
 */
template <int EXPERTS, int THREADS>
static __device__ int next_expert(int e)
{
    return EXPERTS && EXPERTS <= THREADS ? INT_MAX : e + THREADS;
}

/**
 * Replaces `values`, one per expert, with their exclusive prefix sums, and returns the total. No barrier is needed
 * before the call if each thread wrote the values of its own experts; after the call, all threads may read all prefix
 * sums.
 */
template <int EXPERTS, int THREADS>
static __device__ __forceinline__ int exclusive_scan_experts(int *values, int *warp_sums, int num_experts)
{
    const int padded_experts = EXPERTS ? EXPERTS : num_experts;
    const int lane = threadIdx.x % WARP_SIZE;
    int sum = 0;

#pragma unroll 1
    for (int e = threadIdx.x; e < padded_experts; e = next_expert<EXPERTS, THREADS>(e)) {
        const int own = values[e];
        const int inclusive = warp_inclusive_scan(own);

        values[e] = inclusive - own;
        if (lane == WARP_SIZE - 1)
            warp_sums[e / WARP_SIZE] = inclusive;
    }
    __syncthreads();
#pragma unroll 1
    for (int first = 0; first < padded_experts; first += THREADS) {
        const int e = first + threadIdx.x;
        int before = 0;

        sum = 0;
#pragma unroll(EXPERTS ? STATIC_EXPERTS / WARP_SIZE / 4 : 1)
        for (int group = 0; group < padded_experts / WARP_SIZE; group += 4) {
            const int4 four = *(const int4 *)&warp_sums[group];

            sum += four.x + four.y + four.z + four.w;
            before += four.x * (group < e / WARP_SIZE) + four.y * (group + 1 < e / WARP_SIZE) +
                      four.z * (group + 2 < e / WARP_SIZE) + four.w * (group + 3 < e / WARP_SIZE);
        }
        if (e < padded_experts)
            values[e] += before;
    }
    __syncthreads();
    return sum;
}
// [exclusive_scan_experts]

// [read_tile]
/** Reads the experts of this thread's ids in a tile, that is, of every THREADS-th id. */
template <typename Id, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ void read_tile(int expert[IDS_PER_THREAD], const Id *ids, int num_ids,
                                                 int num_experts)
{
#pragma unroll
    for (int k = 0; k < IDS_PER_THREAD; k++) {
        const int i = threadIdx.x + k * THREADS;

        expert[k] = expert_of(i < num_ids ? ids[i] : (Id)-1, num_experts);
    }
}
// [read_tile]

// [try_mark_tile]
/**
 * For each id in a tile, sets the bit for the id's run (a run is 2^log_run consecutive ids) in its expert's words.
 * Returns false if any run contains an expert twice, because one bit then represents two ids. Ends with a barrier.
 */
template <int EXPERTS, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ bool try_mark_tile(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s,
                                                     const int expert[IDS_PER_THREAD], int log_run)
{
    const int run = threadIdx.x >> log_run, /* run of the thread's first id */
        words = THREADS >> log_run >> 5;    /* number of words from one of the thread's ids to the next */
    const unsigned bit = 1u << run % 32;
    bool twice = false;

#pragma unroll 1
    for (int i = threadIdx.x; i < s.WORDS * s.padded_experts / 4; i += THREADS)
        ((int4 *)s.marks)[i] = make_int4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < IDS_PER_THREAD; k++)
        if (expert[k] >= 0)
            twice |= (atomicOr(&s.marks[(run / 32 + k * words) * s.padded_experts + expert[k]], bit) & bit) != 0;
    return !__syncthreads_or(twice);
}
// [try_mark_tile]

// [count_marked_ids]
/** Counts expert e's set bits, both before each word (s.bases) and in total (s.tile_counts). Returns the total. */
template <int EXPERTS, int THREADS, int IDS_PER_THREAD>
static __device__ int count_marked_ids(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s, int e)
{
    int sum = 0;

#pragma unroll 4
    for (int word = 0; word < s.WORDS; word++) {
        s.bases[word * s.padded_experts + e] = (unsigned short)sum;
        sum += __popc(s.marks[word * s.padded_experts + e]);
    }
    s.tile_counts[e] = sum;
    s.tile_begins[e] = sum;
    return sum;
}
// [count_marked_ids]

// [stage_tile]
/** Sorts the tile's ids by expert in shared memory, and returns the number of ids. Ends with a barrier. */
template <int EXPERTS, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ int stage_tile(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s,
                                                 const int expert[IDS_PER_THREAD], int log_run)
{
    const int sum = exclusive_scan_experts<EXPERTS, THREADS>(s.tile_begins, s.warp_sums, s.padded_experts);
    const int run = threadIdx.x >> log_run, words = THREADS >> log_run >> 5;
    const unsigned below = lanes_below(run % 32);

#pragma unroll
    for (int k = 0; k < IDS_PER_THREAD; k++) {
        const int word = (run / 32 + k * words) * s.padded_experts + expert[k];

        if (expert[k] >= 0)
            s.staged[s.tile_begins[expert[k]] + s.bases[word] + __popc(s.marks[word] & below)] =
                (unsigned)expert[k] << 16 | (threadIdx.x + k * THREADS);
    }
    __syncthreads();
    return sum;
}
// [stage_tile]

// [count_ids]
/**
 * Adds the number of each expert's ids in [begin, end) to s.part_counts. Each thread has IDS_PER_THREAD loads in flight
 * at a time.
 */
template <typename Id, int EXPERTS, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ void count_ids(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s, const Id *ids,
                                                 int begin, int end, int num_experts)
{
#pragma unroll 1
    for (int tile = begin; tile < end; tile += s.TILE) {
        int expert[IDS_PER_THREAD];

        read_tile<Id, THREADS, IDS_PER_THREAD>(expert, ids + tile, end - tile, num_experts);
#pragma unroll
        for (int k = 0; k < IDS_PER_THREAD; k++)
            if (expert[k] >= 0)
                atomicAdd(&s.part_counts[expert[k]], 1);
    }
}
// [count_ids]

#endif
