/**
 * @file align.cu
 * @brief Chapter 14: one launch at every size, and every group in ascending order.
 *
 * Before: a block counts while others fill, a second launch sorts; atomics decide the order inside a group.
 * Now:    one launch. Few ids: every block counts all of them and writes the groups of its own experts. Many: every block
 *         counts a part, tells the others, and puts its part in order. A rank is a number of bits, so order is ascending.
 * Watch:  launches 1; no atomic returns a value that is used for a place; blocks of one launch that wait for each other.
 */
#include "harness/align/exchange.h"

#ifndef FE
#define FE 4
#endif
// [constants]
enum { WARP_SIZE = 32, FAST_EXPERTS = 256, MOST_THREADS = 1024, FEW_IDS = 4096, FEW_EXPERTS = 4, WRITERS = 256 };
enum { ROWS_AT_ONCE = 4, LOG_LONG_RUN = 3 };
#ifndef L1
#define L1 1024
#define L2 2048
#endif
#ifndef MANY_IDS
#define MANY_IDS 16
#endif
#ifndef MOST_POLLS
#define MOST_POLLS (1 << 22) /* seconds on a GPU */
#endif
static const unsigned FULL_MASK = 0xffffffffu;

typedef unsigned long long word64;
// [constants]

// [list]
/**
 * A problem and its buffers, as the kernels want them: short, since a launch's parameters come from memory too. `experts`
 * is num_experts rounded up to FAST_EXPERTS, `most_blocks` what expert_ids has room for.
 */
struct list {
    const void *topk_ids;
    int *sorted_token_ids, *expert_ids, *num_tokens_post_padded;
    const int *expert_map;
    int numel, num_experts, experts, block_size;
    unsigned reciprocal; /* 0xffffffff / block_size */
    int capacity, most_blocks;
};

static __host__ __device__ int round_up(int count, int multiple)
{
    return (count + multiple - 1) / multiple * multiple;
}

static list list_of(const align_problem *problem, const align_buffers *buffers)
{
    return list{buffers->topk_ids,      buffers->sorted_token_ids,
                buffers->expert_ids,    buffers->num_tokens_post_padded,
                buffers->expert_map,    (int)problem->numel,
                problem->num_experts,   round_up(problem->num_experts, FAST_EXPERTS),
                problem->block_size,    0xffffffffu / (unsigned)problem->block_size,
                (int)problem->capacity, (int)(problem->capacity / problem->block_size)};
}
// [list]

// [helpers]
/** list.experts; known to the compiler in kernels for up to FAST_EXPERTS, which have EXPERTS = FAST_EXPERTS; 0 is for more. */
template <int EXPERTS>
static __device__ int experts_of(const list &list)
{
    return EXPERTS ? EXPERTS : list.experts;
}

/** The number of the id's expert; -1 for ids that name none. */
template <typename Id>
static __device__ int expert_of(Id id, int num_experts)
{
    return (id >= 0) & (id < num_experts) ? (int)id : -1;
}

/** Blocks of rows for `count` ids, below 2^31: a division by block_size. The product is right or one too small. */
static __device__ int blocks_for(int count, const list &list)
{
    const unsigned quotient = __umulhi((unsigned)count, list.reciprocal);
    const unsigned rest = (unsigned)count - quotient * (unsigned)list.block_size;

    return (int)(quotient + (rest > 0) + (rest > (unsigned)list.block_size));
}

/** A bit for each lane below this one. */
static __device__ unsigned lanes_below(int lane)
{
    return (1u << lane) - 1;
}
// [helpers]

// [close]
/**
 * Writes an expert's pads and the owner of its blocks of rows. Its group has `count` ids and begins at `begin`, in blocks
 * of rows. Done by num_shares warps, of which this one is `share`.
 */
static __device__ void close_group(const list &list, int expert, int count, int begin, int share, int num_shares)
{
    const int thread = share * WARP_SIZE + threadIdx.x % WARP_SIZE, num_threads = num_shares * WARP_SIZE;
    const int end = blocks_for(count, list) + begin;
    const int local = list.expert_map ? list.expert_map[expert] : expert;

#pragma unroll 1
    for (unsigned place = begin * list.block_size + count + thread; place < (unsigned)(end * list.block_size);
         place += num_threads)
        list.sorted_token_ids[place] = list.numel;
#pragma unroll 1
    for (int block = begin + thread; block < end; block += num_threads)
        list.expert_ids[block] = local;
}

/** Writes what lies past the last group: pads, and blocks of no expert. `block_threads` of each block do it together. */
static __device__ void close_list(const list &list, int num_blocks, int block_threads)
{
    const int thread = blockIdx.x * block_threads + threadIdx.x, num_threads = gridDim.x * block_threads;

#pragma unroll 1
    for (unsigned place = num_blocks * list.block_size + thread; place < (unsigned)list.capacity; place += num_threads)
        list.sorted_token_ids[place] = list.numel;
#pragma unroll 1
    for (int block = num_blocks + thread; block < list.most_blocks; block += num_threads)
        list.expert_ids[block] = -1;
}
// [close]

/* --- a warp's ids ------------------------------------------------------------------------------------------------- */

// [warp_ids]
/**
 * Grid: a block for each of up to WARP_SIZE ids, of one warp, which knows all of them. If its id is the first of its
 * expert, it writes that expert's group; else it only helps to close the list.
 */
template <typename Id>
static __global__ void __launch_bounds__(WARP_SIZE) align_warp_kernel(list list)
{
    const int lane = threadIdx.x, own = blockIdx.x;
    const int expert = expert_of(lane < list.numel ? ((const Id *)list.topk_ids)[lane] : (Id)-1, list.num_experts);
    const unsigned same = __match_any_sync(FULL_MASK, expert);
    const int count = __popc(same);
    const bool first = expert >= 0 && (same & lanes_below(lane)) == 0; /* of the ids of its expert */
    const int blocks = first ? blocks_for(count, list) : 0;
    const int own_expert = __shfl_sync(FULL_MASK, expert, own);
    const int begin = __reduce_add_sync(FULL_MASK, expert < own_expert ? blocks : 0);
    const int total = __reduce_add_sync(FULL_MASK, blocks);

    if (__shfl_sync(FULL_MASK, first, own)) {
        if (expert == own_expert)
            list.sorted_token_ids[begin * list.block_size + __popc(same & lanes_below(lane))] = lane;
        close_group(list, own_expert, __shfl_sync(FULL_MASK, count, own), begin, 0, 1);
    }
    close_list(list, total, WARP_SIZE);
    if (own == 0 && lane == 0)
        *list.num_tokens_post_padded = total * list.block_size;
}
// [warp_ids]

/* --- few ids ------------------------------------------------------------------------------------------------------ */

// [few_shared]
/** 32-bit words with room for a bit for each id; a multiple of four. */
static __host__ __device__ int words_of_marks(int numel)
{
    return round_up(numel, 4 * WARP_SIZE) / WARP_SIZE;
}

static size_t few_shared_bytes(const list &list)
{
    return ((size_t)list.experts + list.experts / WARP_SIZE + FEW_EXPERTS * words_of_marks(list.numel)) * sizeof(int);
}
// [few_shared]

// [scan_lanes]
/** The sum of the lanes' numbers up to this lane's. */
static __device__ __forceinline__ int scan_lanes(int number)
{
    const int lane = threadIdx.x % WARP_SIZE;

#pragma unroll
    for (int offset = 1; offset < WARP_SIZE; offset *= 2) {
        const int below = __shfl_up_sync(FULL_MASK, number, offset);

        number += below * (lane >= offset);
    }
    return number;
}

/** Writes the number of each bit that is set in `bits`, plus `first`, to ids, in order. Returns the end of what it wrote. */
static __device__ int *write_set_bits(int *ids, unsigned bits, int first)
{
#pragma unroll 1
    for (; bits != 0; bits &= bits - 1)
        *ids++ = first + __ffs((int)bits) - 1;
    return ids;
}
// [scan_lanes]

// [few]
/**
 * Grid: a block for every FEW_EXPERTS experts. Each counts all ids, up to IDS a thread, and writes the groups of its own
 * experts.
 */
template <typename Id, int EXPERTS, int IDS>
static __global__ void __launch_bounds__(MOST_THREADS) align_few_kernel(list list)
{
    extern __shared__ int4 shared[];
    __shared__ int own_begins[FEW_EXPERTS];
    const int experts = experts_of<EXPERTS>(list), groups = experts / WARP_SIZE, words = words_of_marks(list.numel);
    int *const counts = (int *)shared; /* [experts] */
    int *const sums = counts + experts;
    unsigned *const marks = (unsigned *)sums + groups; /* [FEW_EXPERTS][words]: a bit for each of its ids */
    const int thread = threadIdx.x, lane = thread % WARP_SIZE, warp = thread / WARP_SIZE, num_threads = blockDim.x;
    const int first_own = blockIdx.x * FEW_EXPERTS, own_group = first_own / WARP_SIZE;
    Id ids[IDS];

#pragma unroll
    for (int k = 0; k < IDS; k++) {
        const int i = thread + k * num_threads;

        ids[k] = i < list.numel ? ((const Id *)list.topk_ids)[i] : (Id)-1;
    }
    // [few]

    // [few_count]
#pragma unroll 1
    for (int e = thread; e < experts; e += num_threads)
        counts[e] = 0;
#pragma unroll 1
    for (int word = thread; word < FEW_EXPERTS * words; word += num_threads)
        marks[word] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < IDS; k++) {
        const int expert = expert_of(ids[k], list.num_experts), own = expert - first_own;

        if (expert >= 0)
            atomicAdd(&counts[expert], 1);
        if (expert >= 0 && (unsigned)own < FEW_EXPERTS)
            atomicOr(&marks[own * words + warp + k * (num_threads / WARP_SIZE)], 1u << lane);
    }
    __syncthreads();
    // [few_count]

    // [few_scan]
#pragma unroll 1
    for (int e = thread; e < experts; e += num_threads) {
        const int blocks = blocks_for(counts[e], list);
        int before = 0, sum = 0;

#pragma unroll 1
        for (int bit = 0; __any_sync(FULL_MASK, blocks >> bit); bit++) {
            const unsigned plane = __ballot_sync(FULL_MASK, blocks >> bit & 1);

            before += __popc(plane & lanes_below(lane)) << bit;
            sum += __popc(plane) << bit;
        }
        if (lane == 0)
            sums[e / WARP_SIZE] = sum;
        if (e >= first_own && e < first_own + FEW_EXPERTS)
            own_begins[e - first_own] = before;
    }
    __syncthreads();
    if (thread >= WRITERS)
        return;
    // [few_scan]

    // [few_begins]
    int total = 0, before = 0;

#pragma unroll 1
    for (int group = 0; group < groups; group += 4) {
        const int4 four = *(const int4 *)&sums[group];

        total += four.x + four.y + four.z + four.w;
        before += four.x * (group < own_group) + four.y * (group + 1 < own_group) + four.z * (group + 2 < own_group) +
                  four.w * (group + 3 < own_group);
    }
    // [few_begins]

    // [few_write]
    if (warp < FEW_EXPERTS && first_own + warp < list.num_experts) { /* a warp for each of the block's experts */
        unsigned own[IDS]; /* a lane has IDS words of the expert's bits */
        int count = 0;

#pragma unroll
        for (int k = 0; k < IDS; k++) {
            own[k] = lane * IDS + k < words ? marks[warp * words + lane * IDS + k] : 0;
            count += __popc(own[k]);
        }
        int *place = list.sorted_token_ids + (before + own_begins[warp]) * list.block_size + scan_lanes(count) - count;

#pragma unroll
        for (int k = 0; k < IDS; k++)
            place = write_set_bits(place, own[k], (lane * IDS + k) * WARP_SIZE);
        close_group(list, first_own + warp, counts[first_own + warp], before + own_begins[warp], 0, 1);
    }
    close_list(list, total, WRITERS);
    if (blockIdx.x == 0 && thread == 0)
        *list.num_tokens_post_padded = total * list.block_size;
    // [few_write]
}

/* --- many ids ----------------------------------------------------------------------------------------------------- */

// [exchange]
/**
 * The workspace, all zeros before its first launch. Two sets of rows, in each a row for every block. A launch writes to
 * the set that the last one did not, and clears what the last one wrote: so what it finds in its own set are zeros.
 */
struct exchange {
    word64 last;    /* of the last launch: the words it wrote, times two, and in the lowest bit to which set */
    word64 leavers; /* blocks of this launch that have read all they need; in the upper half those that gave up */
};                  /* and then the rows: [2][ALIGN_MOST_BLOCKS * experts / 2] words */
static const word64 WRITTEN = 1ull << 63; /* in a word that says something */

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
    int experts;           /* EXPERTS, unless that is 0 */
    int *sums;             /* [experts / WARP_SIZE] */
    int *part_counts;      /* [experts] ids of this block's part, but for its last tile */
    int *tile_counts;      /* [experts] ids of a tile */
    int *tile_begins;      /* [experts] where they begin in `staged` */
    int *counts;           /* [experts] ids of all blocks */
    int *begins;           /* [experts] first block of rows */
    int *cursors;          /* [experts] place of the first of this block's ids that has been written */
    unsigned *staged;      /* [TILE] a tile's ids by expert: the expert, times 65536, and the position */
    unsigned *marks;       /* [words][experts] of a tile: a bit for each run of ids, if one is the expert's */
    unsigned short *bases; /* [words][experts] how many bits the words before have */
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
 * Turns a number for each expert into the sum of those before it, and returns the sum of all. A thread's own experts are
 * its own before; all may read them afterwards.
 */
template <int EXPERTS, int THREADS>
static __device__ __forceinline__ int scan_experts(int *numbers, int *sums, int num_experts)
{
    const int experts = EXPERTS ? EXPERTS : num_experts;
    const int lane = threadIdx.x % WARP_SIZE;
    int sum = 0;

#pragma unroll 1
    for (int e = threadIdx.x; e < experts; e += THREADS) {
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
#pragma unroll 1
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
 * Sets a bit for each run of 2^log_run ids of a tile, in its expert's words. False if a run has an expert twice: the bits
 * are of no use then. Ends with a barrier.
 */
template <int EXPERTS, int THREADS, int IDS>
static __device__ __forceinline__ bool mark_tile(const many_shared<EXPERTS, THREADS, IDS> &s, const int expert[IDS],
                                                 int log_run)
{
    const int run = threadIdx.x >> log_run, words = THREADS >> log_run >> 5; /* of its first id; from one to the next */
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
    s.tile_counts[e] = s.tile_begins[e] = sum;
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
/** Puts `count`, of this thread's expert e, into the block's row: PER_WORD experts share a word. A whole warp does it. */
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
/** Sums all blocks' rows into s.counts, and those of the blocks before this one into s.cursors. False: gave up. */
template <int EXPERTS, int PER_WORD, int THREADS, int IDS>
static __device__ __forceinline__ bool read_rows(const many_shared<EXPERTS, THREADS, IDS> &s, const list &list,
                                                 const word64 *rows)
{
    const int words = s.experts / PER_WORD, groups = s.groups(words), bits = 64 / PER_WORD;
    const int group = threadIdx.x / words, num_rows = gridDim.x;
    const word64 mask = PER_WORD == 4 ? 0x0000ffff0000ffffull : 0xffffffffull;
    bool good = true;

    for (int w = threadIdx.x % words; group < groups && w < words; w += THREADS) {
        word64 sums[2] = {0, 0}, before[2] = {0, 0}; /* of counts number 0 and 2, and number 1 and 3 of a word */

#pragma unroll 1
        for (int first = group; first < num_rows; first += ROWS_AT_ONCE * groups) {
            word64 seen[ROWS_AT_ONCE];
            bool all = false;

#pragma unroll 1
            for (int polls = 0; !all && polls < MOST_POLLS; polls++) {
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
#pragma unroll
        for (int f = 0; f < PER_WORD; f++) {
            s.partial[2 * group * s.experts + w * PER_WORD + f] = (int)(sums[f % 2] >> f / 2 * 32);
            s.partial[(2 * group + 1) * s.experts + w * PER_WORD + f] = (int)(before[f % 2] >> f / 2 * 32);
        }
    }
    if (__syncthreads_or(!good))
        return false;
    for (int e = threadIdx.x; e < s.experts; e += THREADS) {
        int sum = 0, before = 0;

#pragma unroll 2
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

/** Grid: up to ALIGN_MOST_BLOCKS blocks, all on the device at the same time. */
template <typename Id, int EXPERTS, int PER_WORD, int THREADS, int IDS>
static __global__ void __launch_bounds__(THREADS) align_many_kernel(list list, shares shares)
{
    extern __shared__ int4 shared[];
    const int thread = threadIdx.x, words = experts_of<EXPERTS>(list) / PER_WORD,
              set_words = ALIGN_MOST_BLOCKS * experts_of<EXPERTS>(list) / 2;
    const many_shared<EXPERTS, THREADS, IDS> s(shared, list);
    const int first_id = blockIdx.x * shares.part_ids, num_ids = min(shares.part_ids, list.numel - first_id);
    const Id *const ids = (const Id *)list.topk_ids + first_id;
    const word64 last = load_word(&shares.workspace->last);
    int tile = (num_ids - 1) / s.TILE * s.TILE;
    // [many]

    // [many_count]
#pragma unroll 1
    for (int e = thread; e < s.experts; e += THREADS)
        s.part_counts[e] = 0;
    if (tile > 0)
        __syncthreads();
    count_ids(s, ids, 0, tile, list.num_experts);
    // [many_count]

    // [many_tiles]
    const int set = !(last & 1);
    word64 *const sets = (word64 *)(shares.workspace + 1), *const rows = sets + set * set_words;
    word64 leavers = 0;
    bool good = true;
    int total = 0;

    int expert[IDS], end = num_ids, log_run = LOG_LONG_RUN;

    read_tile<Id, THREADS, IDS>(expert, ids + tile, end - tile, list.num_experts);
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
        for (int e = thread; e < s.experts; e += THREADS) {
            const int count = sum_words(s, e);

            if (first)
                publish<PER_WORD>(rows + blockIdx.x * words, e, s.part_counts[e] + count);
        }
        const int in_tile = stage_tile(s, expert, log_run);
        // [many_tiles]

        // [many_exchange]
        if (first) {
#pragma unroll 1
            for (int i = blockIdx.x * THREADS + thread; i < (int)(last >> 1); i += gridDim.x * THREADS)
                sets[!set * set_words + i] = 0;
            good = read_rows<EXPERTS, PER_WORD>(s, list, rows);
            if (thread == 0)
                leavers = atomicAdd(&shares.workspace->leavers, good ? 1ull : (1ull << 32) + 1);
            if (!good)
                break;
            total = scan_experts<EXPERTS, THREADS>(s.begins, s.sums, s.experts);
#pragma unroll 1
            for (int e = thread; e < s.experts; e += THREADS)
                s.cursors[e] += s.begins[e] * list.block_size + s.part_counts[e] + s.tile_counts[e];
        }
        // [many_exchange]

        // [many_scatter]
#pragma unroll 1
        for (int e = thread; e < s.experts; e += THREADS) {
            s.cursors[e] -= s.tile_counts[e];
            s.tile_begins[e] = s.cursors[e] - s.tile_begins[e]; /* from a place in `staged` to one in the list */
        }
        const int before = tile, length = s.WORDS * 32 << log_run;

        end = tile;
        tile = (end - 1) / length * length;
        if (end > 0) /* the next tile's ids are on their way while this one's go out */
            read_tile<Id, THREADS, IDS>(expert, ids + tile, end - tile, list.num_experts);
        __syncthreads();
#pragma unroll(IDS > 4 ? 4 : 1)
        for (int i = thread; i < in_tile; i += THREADS)
            list.sorted_token_ids[s.tile_begins[s.staged[i] >> 16] + i] = first_id + before + (int)(s.staged[i] & 0xffff);
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

    // [many_leave]
    if (thread == 0 && (unsigned)leavers == gridDim.x - 1) { /* the last one: everybody has read `last` and all rows */
        *list.num_tokens_post_padded = good && leavers >> 32 == 0 ? total * list.block_size : -1;
        atomicExch(&shares.workspace->leavers, 0ull);
        atomicExch(&shares.workspace->last, (word64)gridDim.x * words << 1 | set);
    }
    // [many_leave]
}

/* --- launch ------------------------------------------------------------------------------------------------------- */

// [launch_few]
template <typename Id, int EXPERTS, int IDS>
static void launch_blocks(const list &list, cudaStream_t stream)
{
    const int blocks = (list.num_experts + FEW_EXPERTS - 1) / FEW_EXPERTS;
    const int share = round_up(list.numel, WARP_SIZE * IDS) / IDS;

    align_few_kernel<Id, EXPERTS, IDS>
        <<<blocks, share > WRITERS ? share : WRITERS, few_shared_bytes(list), stream>>>(list);
}

template <typename Id, int EXPERTS>
static cudaError_t launch_few(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const list list = list_of(problem, buffers);
    const int warps = list.numel > 0 ? list.numel : 1; /* an empty grid is a launch error */

    if (list.numel <= WARP_SIZE)
        align_warp_kernel<Id><<<warps, WARP_SIZE, 0, stream>>>(list);
    else if (list.numel <= L1)
        launch_blocks<Id, EXPERTS, 1>(list, stream);
    else if (list.numel <= L2)
        launch_blocks<Id, EXPERTS, 2>(list, stream);
    else
        launch_blocks<Id, EXPERTS, 4>(list, stream);
    return cudaGetLastError();
}
// [launch_few]

// [resident]
/** How many blocks of a kernel wait for each other without harm: one for each multiprocessor, if it holds one. */
template <typename Kernel>
static cudaError_t resident_blocks(Kernel kernel, int threads, size_t shared_bytes, int *blocks)
{
    int device, processors, each;
    cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);

    if (status == cudaSuccess)
        status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes);
    if (status == cudaSuccess && each == 0)
        status = cudaErrorInvalidConfiguration;
    *blocks = processors < ALIGN_MOST_BLOCKS ? processors : ALIGN_MOST_BLOCKS;
    return status;
}
// [resident]

// [launch_many]
/** Up to `blocks` blocks, and no more than can wait for each other. */
template <typename Id, int EXPERTS, int PER_WORD, int THREADS, int IDS>
static cudaError_t launch_parts(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream,
                                int blocks)
{
    typedef many_shared<EXPERTS, THREADS, IDS> shared;
    const auto kernel = align_many_kernel<Id, EXPERTS, PER_WORD, THREADS, IDS>;
    list list = list_of(problem, buffers);
    shares shares = {(exchange *)buffers->workspace, 0, 0};
    void *arguments[] = {&list, &shares};
    const size_t shared_bytes = shared::bytes(list.experts, list.experts / PER_WORD);
    int resident;
    const cudaError_t status = resident_blocks(kernel, THREADS, shared_bytes, &resident);

    if (status != cudaSuccess)
        return status;
    blocks = blocks < resident ? blocks : resident;
    shares.part_ids = round_up((int)((problem->numel + blocks - 1) / blocks), WARP_SIZE);
    if (PER_WORD == 4 && shares.part_ids > INT16_MAX / ROWS_AT_ONCE) /* a count would not fit into its bits */
        return launch_parts<Id, FAST_EXPERTS, 2, 1024, 4>(problem, buffers, stream, resident);
    blocks = (list.numel + shares.part_ids - 1) / shares.part_ids;
    while ((list.num_experts << (shares.log_shares + 1)) <= blocks * shared::WARPS)
        shares.log_shares++;
    return cudaLaunchCooperativeKernel(kernel, blocks, THREADS, arguments, shared_bytes, stream);
}

/** Many ids: a tile for each block as long as there are blocks enough, then several. */
template <typename Id>
static cudaError_t launch_many(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const int64_t numel = problem->numel;

    if (problem->num_experts > FAST_EXPERTS)
        return launch_parts<Id, 0, 2, 256, 1>(problem, buffers, stream, ALIGN_MOST_BLOCKS);
    if (numel <= 8192)
        return launch_parts<Id, FAST_EXPERTS, 4, 256, 1>(problem, buffers, stream, (int)((numel + 255) / 256));
    if (numel <= 16384)
        return launch_parts<Id, FAST_EXPERTS, 4, 512, 1>(problem, buffers, stream, (int)((numel + 511) / 512));
    if (numel <= 65536)
        return launch_parts<Id, FAST_EXPERTS, 4, 512, 2>(problem, buffers, stream, (int)((numel + 1023) / 1024));
    if (numel <= 262144)
        return launch_parts<Id, FAST_EXPERTS, 4, 512, 4>(problem, buffers, stream, (int)((numel + 2047) / 2048));
    if (numel <= 524288)
        return launch_parts<Id, FAST_EXPERTS, 2, 1024, 4>(problem, buffers, stream, ALIGN_MOST_BLOCKS);
    return launch_parts<Id, FAST_EXPERTS, 2, 1024, MANY_IDS>(problem, buffers, stream, ALIGN_MOST_BLOCKS);
}
// [launch_many]

// [launch]
template <typename Id>
static cudaError_t launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const bool few = problem->kernel == ALIGN_KERNEL_AUTO
                         ? problem->numel <= FEW_IDS
                         : problem->kernel == ALIGN_KERNEL_SMALL || problem->numel == 0;

    if (!few)
        return launch_many<Id>(problem, buffers, stream);
    return problem->num_experts > FAST_EXPERTS ? launch_few<Id, 0>(problem, buffers, stream)
                                               : launch_few<Id, FAST_EXPERTS>(problem, buffers, stream);
}

cudaError_t align_launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    return problem->wide_ids ? launch<int64_t>(problem, buffers, stream) : launch<int>(problem, buffers, stream);
}
// [launch]
