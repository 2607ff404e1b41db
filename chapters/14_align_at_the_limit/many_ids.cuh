/**
 * @file chapters/14_align_at_the_limit/many_ids.cuh
 * @brief More ids: blocks that share them and tell each other their counts.
 */
#ifndef ALIGN_MANY_IDS_CUH
#define ALIGN_MANY_IDS_CUH

#include "list.cuh"

#include <limits.h>

// [many_constants]
enum { LOG_LONG_RUN = 3, LONG_TILE = 16 };
#ifndef MAX_POLLS
#define MAX_POLLS (1 << 22) /* seconds on a GPU */
#endif

typedef unsigned long long word64;

/** How many rows a thread looks at together, of words that have so many counts. */
static constexpr __host__ __device__ int rows_at_once(int per_word)
{
    return per_word == 4 ? 8 : 4;
}
// [many_constants]

// [exchange]
/**
 * The workspace, all zeros before its first launch. Two sets of rows, in each a row for every block. A launch writes to
 * the set that the last one did not, and clears what the last one wrote: so what it finds in its own set are zeros.
 */
struct exchange {
    word64 last;    /* of the last launch: the words it wrote, times two, and in the lowest bit to which set */
    word64 readers; /* blocks of this launch that have read `last`; in the upper half a bit for each set: gave up */
};                  /* and then the rows: [2][ALIGN_MAX_BLOCKS * experts / 2] words */
static const word64 WRITTEN = 1ull << 63; /* in a word that says something */

/** In exchange.readers: a block gave up waiting for rows of that set. */
static __device__ word64 gave_up(int set)
{
    return 1ull << (32 + set);
}

static __device__ word64 load_word(const word64 *word)
{
    return *(const volatile word64 *)word;
}
// [exchange]

// [many_shared]
/** What a thread block of align_many_kernel has in shared memory. */
template <int EXPERTS, int THREADS, int IDS>
struct many_shared {
    static constexpr int WARPS = THREADS / WARP_SIZE, TILE = THREADS * IDS;
    static constexpr int WORDS = TILE >> LOG_LONG_RUN >> 5; /* a bit for each run of ids of a tile */
    int experts;                                            /* EXPERTS, unless that is 0 */
    int *sums;                                              /* [experts / WARP_SIZE] */
    int *part_counts;      /* [experts] ids of this block's part, but for its last tile */
    int *tile_counts;      /* [experts] ids of a tile */
    int *tile_begins;      /* [experts] where they begin in `staged` */
    int *counts;           /* [experts] ids of all blocks */
    int *begins;           /* [experts] first block of rows */
    int *cursors;          /* [experts] behind the block's last id that is not written yet */
    unsigned *staged;      /* [TILE] a tile's ids by expert: the expert, times 65536, and the position */
    unsigned *marks;       /* [WORDS][experts] of a tile: a bit for each run of ids, if one is the expert's */
    unsigned short *bases; /* [WORDS][experts] how many bits the words before have */
    int *partial;          /* [groups][2][experts], in the place of marks */

    /** Sets of threads that read rows at the same time. A row has `words` words, one for each thread of a set. */
    static __host__ __device__ int groups(int words)
    {
        return words < THREADS ? THREADS / words : 1;
    }

    static size_t bytes(int experts, int words)
    {
        const size_t marking = (size_t)WORDS * experts * (sizeof(unsigned) + sizeof(unsigned short));
        const size_t reading = (size_t)2 * groups(words) * experts * sizeof(int);

        return ((size_t)7 * experts + TILE) * sizeof(int) + (marking > reading ? marking : reading);
    }

    __device__ many_shared(int4 *shared, const list &list) : experts(experts_of<EXPERTS>(list))
    {
        sums = (int *)shared;
        part_counts = sums + experts;
        tile_counts = part_counts + experts;
        tile_begins = tile_counts + experts;
        counts = tile_begins + experts;
        begins = counts + experts;
        cursors = begins + experts;
        staged = (unsigned *)(cursors + experts);
        partial = (int *)(staged + TILE);
        marks = staged + TILE;
        bases = (unsigned short *)(marks + WORDS * experts);
    }
};
// [many_shared]

// [scan_experts]
/**
 * The thread's expert after e. None, as the compiler can tell, where there are threads enough: such loops are no loops.
 */
template <int EXPERTS, int THREADS>
static __device__ int next_expert(int e)
{
    return EXPERTS && EXPERTS <= THREADS ? INT_MAX : e + THREADS;
}

/**
 * Turns a number for each expert into the sum of those before it, and returns the sum of all. A thread's own experts
 * are its own before; all may read them afterwards.
 */
template <int EXPERTS, int THREADS>
static __device__ __forceinline__ int scan_experts(int *numbers, int *sums, int num_experts)
{
    const int experts = EXPERTS ? EXPERTS : num_experts;
    const int lane = threadIdx.x % WARP_SIZE;
    int sum = 0;

#pragma unroll 1
    for (int e = threadIdx.x; e < experts; e = next_expert<EXPERTS, THREADS>(e)) {
        const int own = numbers[e];
        const int inclusive = scan_lanes(own);

        numbers[e] = inclusive - own;
        if (lane == WARP_SIZE - 1)
            sums[e / WARP_SIZE] = inclusive;
    }
    __syncthreads();
#pragma unroll 1
    for (int first = 0; first < experts; first += THREADS) {
        const int e = first + threadIdx.x;
        int before = 0;

        sum = 0;
#pragma unroll(EXPERTS ? FAST_EXPERTS / WARP_SIZE / 4 : 1)
        for (int group = 0; group < experts / WARP_SIZE; group += 4) {
            const int4 four = *(const int4 *)&sums[group];

            sum += four.x + four.y + four.z + four.w;
            before += four.x * (group < e / WARP_SIZE) + four.y * (group + 1 < e / WARP_SIZE) +
                      four.z * (group + 2 < e / WARP_SIZE) + four.w * (group + 3 < e / WARP_SIZE);
        }
        if (e < experts)
            numbers[e] += before;
    }
    __syncthreads();
    return sum;
}
// [scan_experts]

// [mark_tile]
/** Reads the experts of a thread's ids of a tile, every THREADS-th of them. */
template <typename Id, int THREADS, int IDS>
static __device__ __forceinline__ void read_tile(int expert[IDS], const Id *ids, int num_ids, int num_experts)
{
#pragma unroll
    for (int k = 0; k < IDS; k++) {
        const int i = threadIdx.x + k * THREADS;

        expert[k] = expert_of(i < num_ids ? ids[i] : (Id)-1, num_experts);
    }
}

/**
 * Sets a bit for each run of 2^log_run ids of a tile, in its expert's words. False if a run has an expert twice: the
 * bits are of no use then. Ends with a barrier.
 */
template <int EXPERTS, int THREADS, int IDS>
static __device__ __forceinline__ bool mark_tile(const many_shared<EXPERTS, THREADS, IDS> &s, const int expert[IDS],
                                                 int log_run)
{
    const int run = threadIdx.x >> log_run, /* of the thread's first id */
        words = THREADS >> log_run >> 5;    /* from one of its ids to the next */
    const unsigned bit = 1u << run % 32;
    bool twice = false;

#pragma unroll 1
    for (int i = threadIdx.x; i < s.WORDS * s.experts / 4; i += THREADS)
        ((int4 *)s.marks)[i] = make_int4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < IDS; k++)
        if (expert[k] >= 0)
            twice |= (atomicOr(&s.marks[(run / 32 + k * words) * s.experts + expert[k]], bit) & bit) != 0;
    return !__syncthreads_or(twice);
}
// [mark_tile]

// [sum_words]
/** Sums expert e's bits before each word into s.bases, and all of them into s.tile_counts; returns those. */
template <int EXPERTS, int THREADS, int IDS>
static __device__ int sum_words(const many_shared<EXPERTS, THREADS, IDS> &s, int e)
{
    int sum = 0;

#pragma unroll 4
    for (int word = 0; word < s.WORDS; word++) {
        s.bases[word * s.experts + e] = (unsigned short)sum;
        sum += __popc(s.marks[word * s.experts + e]);
    }
    s.tile_counts[e] = sum;
    s.tile_begins[e] = sum;
    return sum;
}
// [sum_words]

// [stage_tile]
/** Puts the tile's ids in order, in shared memory; returns how many there are. Ends with a barrier. */
template <int EXPERTS, int THREADS, int IDS>
static __device__ __forceinline__ int stage_tile(const many_shared<EXPERTS, THREADS, IDS> &s, const int expert[IDS],
                                                 int log_run)
{
    const int sum = scan_experts<EXPERTS, THREADS>(s.tile_begins, s.sums, s.experts);
    const int run = threadIdx.x >> log_run, words = THREADS >> log_run >> 5;
    const unsigned below = lanes_below(run % 32);

#pragma unroll
    for (int k = 0; k < IDS; k++) {
        const int word = (run / 32 + k * words) * s.experts + expert[k];

        if (expert[k] >= 0)
            s.staged[s.tile_begins[expert[k]] + s.bases[word] + __popc(s.marks[word] & below)] =
                (unsigned)expert[k] << 16 | (threadIdx.x + k * THREADS);
    }
    __syncthreads();
    return sum;
}
// [stage_tile]

// [publish]
/**
 * Puts `count`, of this thread's expert e, into the block's row: PER_WORD experts share a word. A whole warp does it.
 */
template <int PER_WORD>
static __device__ void publish(word64 *row, int e, int count)
{
    word64 word = (word64)count;

#pragma unroll
    for (int counts = 1; counts < PER_WORD; counts *= 2)
        word |= __shfl_down_sync(FULL_MASK, word, counts) << counts * (64 / PER_WORD);
    if (e % PER_WORD == 0)
        atomicExch(&row[e / PER_WORD], word | WRITTEN);
}
// [publish]

// [read_rows]
/** Stores a word's counts together. counts[0] has number 0 and, in its upper half, 2; counts[1] has 1 and 3. */
template <int PER_WORD>
static __device__ void store_counts(int *to, const word64 counts[2])
{
    if (PER_WORD == 4)
        *(int4 *)to = make_int4((int)counts[0], (int)counts[1], (int)(counts[0] >> 32), (int)(counts[1] >> 32));
    else
        *(int2 *)to = make_int2((int)counts[0], (int)counts[1]);
}

/** Sums all blocks' rows into s.counts, and those of the blocks before this one into s.cursors. False: gave up. */
template <int EXPERTS, int PER_WORD, int THREADS, int IDS>
static __device__ __forceinline__ bool read_rows(const many_shared<EXPERTS, THREADS, IDS> &s, const list &list,
                                                 const word64 *rows)
{
    const int words = s.experts / PER_WORD, groups = s.groups(words), bits = 64 / PER_WORD;
    const int group = threadIdx.x / words, num_rows = gridDim.x;
    const word64 mask = PER_WORD == 4 ? 0x0000ffff0000ffffull : 0xffffffffull;
    constexpr int ROWS_AT_ONCE = rows_at_once(PER_WORD);
    bool good = true;

    for (int w = threadIdx.x % words; group < groups && w < words; w += THREADS) {
        word64 sums[2] = {0, 0}, before[2] = {0, 0}; /* of counts number 0 and 2, and number 1 and 3 of a word */

#pragma unroll 1
        for (int first = group; first < num_rows; first += ROWS_AT_ONCE * groups) {
            word64 seen[ROWS_AT_ONCE];
            bool all = false;

#pragma unroll 1
            for (int polls = 0; !all && polls < MAX_POLLS; polls++) {
                if (polls > 0)
                    __nanosleep(20);
                all = true;
#pragma unroll
                for (int k = 0; k < ROWS_AT_ONCE; k++) {
                    const int row = first + k * groups;

                    seen[k] = row < num_rows ? load_word(&rows[row * words + w]) : WRITTEN;
                }
#pragma unroll
                for (int k = 0; k < ROWS_AT_ONCE; k++)
                    all = all && seen[k] & WRITTEN;
            }
            good = good && all;
            word64 sum = 0, earlier = 0; /* a count has room for ROWS_AT_ONCE of them */

#pragma unroll
            for (int k = 0; k < ROWS_AT_ONCE; k++) {
                const word64 word = seen[k] & ~WRITTEN;

                sum += word;
                earlier += first + k * groups < (int)blockIdx.x ? word : 0;
            }
            sums[0] += sum & mask;
            sums[1] += sum >> bits & mask;
            before[0] += earlier & mask;
            before[1] += earlier >> bits & mask;
        }
        store_counts<PER_WORD>(&s.partial[2 * group * s.experts + w * PER_WORD], sums);
        store_counts<PER_WORD>(&s.partial[(2 * group + 1) * s.experts + w * PER_WORD], before);
    }
    if (__syncthreads_or(!good))
        return false;
    for (int e = threadIdx.x; e < s.experts; e = next_expert<EXPERTS, THREADS>(e)) {
        int sum = 0, before = 0;

#pragma unroll(EXPERTS ? 8 : 1)
        for (int g = 0; g < groups; g++) {
            sum += s.partial[2 * g * s.experts + e];
            before += s.partial[(2 * g + 1) * s.experts + e];
        }
        s.counts[e] = sum;
        s.begins[e] = blocks_for(sum, list);
        s.cursors[e] = before;
    }
    return true;
}
// [read_rows]

// [count_ids]
/** Adds the ids of [begin, end) to s.part_counts. Their loads are under way together, IDS of them. */
template <typename Id, int EXPERTS, int THREADS, int IDS>
static __device__ __forceinline__ void count_ids(const many_shared<EXPERTS, THREADS, IDS> &s, const Id *ids, int begin,
                                                 int end, int num_experts)
{
#pragma unroll 1
    for (int tile = begin; tile < end; tile += s.TILE) {
        int expert[IDS];

        read_tile<Id, THREADS, IDS>(expert, ids + tile, end - tile, num_experts);
#pragma unroll
        for (int k = 0; k < IDS; k++)
            if (expert[k] >= 0)
                atomicAdd(&s.part_counts[expert[k]], 1);
    }
}
// [count_ids]

// [many]
/** How the ids are dealt to blocks, and the experts to warps. */
struct shares {
    exchange *workspace;
    int part_ids;   /* ids of a block; the last may have less */
    int log_shares; /* so many warps close a group, as a power of two */
};

/** Grid: up to ALIGN_MAX_BLOCKS blocks, all on the device at the same time. */
template <typename Id, int EXPERTS, int PER_WORD, int THREADS, int IDS>
static __global__ void __launch_bounds__(THREADS) align_many_kernel(list list, shares shares)
{
    extern __shared__ int4 shared[];
    const int thread = threadIdx.x, words = experts_of<EXPERTS>(list) / PER_WORD,
              set_words = ALIGN_MAX_BLOCKS * experts_of<EXPERTS>(list) / 2;
    const many_shared<EXPERTS, THREADS, IDS> s(shared, list);
    const int first_id = blockIdx.x * shares.part_ids, num_ids = min(shares.part_ids, list.numel - first_id);
    const Id *const ids = (const Id *)list.topk_ids + first_id;
    int tile = (num_ids - 1) / s.TILE * s.TILE, expert[IDS];

    read_tile<Id, THREADS, IDS>(expert, ids + tile, num_ids - tile, list.num_experts);
    const word64 last = load_word(&shares.workspace->last); /* under way with the ids */
    // [many]

    // [many_count]
#pragma unroll 1
    for (int e = thread; e < s.experts; e = next_expert<EXPERTS, THREADS>(e))
        s.part_counts[e] = 0;
    if (tile > 0)
        __syncthreads();
    count_ids(s, ids, 0, tile, list.num_experts);
    // [many_count]

    // [many_tiles]
    const int set = !(last & 1);
    word64 *const sets = (word64 *)(shares.workspace + 1), *const rows = sets + set * set_words;
    bool good = true;
    int total = 0, old = 0, end = num_ids, log_run = LOG_LONG_RUN;

#pragma unroll 1
    for (bool first = true; end > 0; first = false) {
        if (!mark_tile(s, expert, log_run)) { /* from now on shorter tiles, with a bit for each id */
            const int long_tile = tile;

            log_run = 0;
            tile = (end - 1) / (s.WORDS * 32) * (s.WORDS * 32);
            if (first)
                count_ids(s, ids, long_tile, tile, list.num_experts);
            read_tile<Id, THREADS, IDS>(expert, ids + tile, end - tile, list.num_experts);
            mark_tile(s, expert, log_run);
        }
#pragma unroll 1
        for (int e = thread; e < s.experts; e = next_expert<EXPERTS, THREADS>(e)) {
            const int count = sum_words(s, e);

            if (first)
                publish<PER_WORD>(rows + blockIdx.x * words, e, s.part_counts[e] + count);
        }
        const int in_tile = stage_tile(s, expert, log_run);
        // [many_tiles]

        // [many_exchange]
        if (first) {
            word64 readers = 0;

#pragma unroll 1
            for (int i = blockIdx.x * THREADS + thread; i < (int)(last >> 1); i += gridDim.x * THREADS)
                sets[!set * set_words + i] = 0;
            if (thread == 0)
                readers = atomicAdd(&shares.workspace->readers, 1ull);
            good = read_rows<EXPERTS, PER_WORD>(s, list, rows);
            if (thread == 0 && (unsigned)readers == gridDim.x - 1) { /* all have read `last`: it may change */
                atomicAnd(&shares.workspace->readers, gave_up(set));
                atomicExch(&shares.workspace->last, (word64)gridDim.x * words << 1 | set);
            }
            if (!good)
                break;
            total = scan_experts<EXPERTS, THREADS>(s.begins, s.sums, s.experts);
            if (thread == 0 && blockIdx.x == 0)
                old = atomicExch(list.num_tokens_post_padded, total * list.block_size);
#pragma unroll 1
            for (int e = thread; e < s.experts; e = next_expert<EXPERTS, THREADS>(e))
                s.cursors[e] += s.begins[e] * list.block_size + s.part_counts[e] + s.tile_counts[e];
        }
        // [many_exchange]

        // [many_scatter]
#pragma unroll 1
        for (int e = thread; e < s.experts; e = next_expert<EXPERTS, THREADS>(e)) {
            s.cursors[e] -= s.tile_counts[e];
            s.tile_begins[e] = s.cursors[e] - s.tile_begins[e]; /* from a place in `staged` to one in the list */
        }
        const int first_staged = first_id + tile, length = s.WORDS * 32 << log_run;

        end = tile;
        tile = (end - 1) / length * length;
        if (end > 0) /* the next tile's ids are on their way while this one's go out */
            read_tile<Id, THREADS, IDS>(expert, ids + tile, end - tile, list.num_experts);
        __syncthreads();
#pragma unroll(IDS > 4 ? 4 : 1)
        for (int i = thread; i < in_tile; i += THREADS)
            list.sorted_token_ids[s.tile_begins[s.staged[i] >> 16] + i] = first_staged + (int)(s.staged[i] & 0xffff);
    }
    // [many_scatter]

    // [many_close]
    const int warp = thread / WARP_SIZE * gridDim.x + blockIdx.x, num_shares = 1 << shares.log_shares;

#pragma unroll 1
    for (int e = warp >> shares.log_shares; good && e < list.num_experts; e += s.WARPS * gridDim.x >> shares.log_shares)
        close_group(list, e, s.counts[e], s.begins[e], warp & (num_shares - 1), num_shares);
    if (good)
        close_list(list, total, THREADS);
    // [many_close]

    // [many_result]
    if (thread == 0 && !good) {
        atomicOr(&shares.workspace->readers, gave_up(set));
        __threadfence(); /* who finds the -1 finds the bit too */
        atomicExch(list.num_tokens_post_padded, -1);
    } else if (thread == 0 && blockIdx.x == 0 && old == -1) { /* by a block of this launch, or by an earlier one? */
        __threadfence();
        if (load_word(&shares.workspace->readers) & gave_up(set))
            atomicExch(list.num_tokens_post_padded, -1);
    }
    // [many_result]
}

#endif
