/**
 * @file align.cu
 * @brief Chapter 14: one launch at every size, and every group in ascending order.
 *
 * Before: a block counts while others fill, a second launch sorts; atomics decide the order inside a group.
 * Now:    one launch. Few ids: every block counts all of them and writes the groups of its own experts. Many: every block
 *         counts a part, tells the others, and puts its part in order. A rank is a number of bits, so order is ascending.
 * Watch:  launches 1; no atomic returns a value that is used for a place; blocks of one launch that wait for each other.
 */
#include "harness/align/align.h"

// [constants]
enum { WARP_SIZE = 32, FEW_EXPERTS = 4, FEW_IDS_PER_THREAD = 2, FEW_IDS = FEW_IDS_PER_THREAD * 1024 };
enum { ROWS_AT_ONCE = 4, MOST_POLLS = 1 << 22, SHARED_BYTES = 227 * 1024 };
static const unsigned FULL_MASK = 0xffffffffu;
// [constants]

typedef unsigned long long word64;

// [helpers]
static __host__ __device__ int round_up(int count, int multiple)
{
    return (count + multiple - 1) / multiple * multiple;
}

/** The id as a number of an expert; -1 for ids that name none. */
template <typename Id>
static __device__ int expert_of(Id id, int num_experts)
{
    return (id >= 0) & (id < num_experts) ? (int)id : -1;
}

/** What expert_ids says of a block of this expert's rows: its local id, or -1 if it lives elsewhere. */
static __device__ int local_id(const int *expert_map, int expert)
{
    return expert_map ? expert_map[expert] : expert;
}
// [helpers]

// [quotient]
/** A divisor with its reciprocal, so that dividing by it takes a multiplication. */
struct divisor {
    unsigned value, reciprocal; /* 0xffffffff / value */
};

/** count / by, rounded up; count is below 2^31. The product is right or one too small. */
static __device__ int quotient_up(int count, divisor by)
{
    const unsigned quotient = __umulhi((unsigned)count, by.reciprocal);
    const unsigned rest = (unsigned)count - quotient * by.value; /* up to 2 * value - 1 */

    return (int)(quotient + (rest > 0) + (rest > by.value));
}
// [quotient]

// [scan]
/** The sum of the values of the lanes below this one; `sum` becomes that of all. */
static __device__ int warp_exclusive_scan(int value, int *sum)
{
    const int lane = threadIdx.x % WARP_SIZE;
    int inclusive = value;

#pragma unroll
    for (int offset = 1; offset < WARP_SIZE; offset *= 2) {
        const int below = __shfl_up_sync(FULL_MASK, inclusive, offset);

        inclusive += below * (lane >= offset);
    }
    *sum = __shfl_sync(FULL_MASK, inclusive, WARP_SIZE - 1);
    return inclusive - value;
}

/** The sum of sums[0 .. count - 1]; the warp's lanes do it together. */
static __device__ int warp_sum(const int *sums, int count)
{
    int sum = 0;

    for (int i = threadIdx.x % WARP_SIZE; i < count; i += WARP_SIZE)
        sum += sums[i];
    return __reduce_add_sync(FULL_MASK, sum);
}
// [scan]

// [pads]
/** Writes pads behind an expert's `count` positions, and whose its blocks are. A share of its 32-lane warps. */
static __device__ void close_group(const align_problem &problem, const align_buffers &buffers, int expert, int count,
                                   int begin, int num_blocks, int share, int num_shares)
{
    const int thread = share * WARP_SIZE + threadIdx.x % WARP_SIZE, num_threads = num_shares * WARP_SIZE;
    int *const rows = buffers.sorted_token_ids + (int64_t)begin * problem.block_size;

    for (int row = count + thread; row < num_blocks * problem.block_size; row += num_threads)
        rows[row] = (int)problem.numel;
    for (int block = thread; block < num_blocks; block += num_threads)
        buffers.expert_ids[begin + block] = local_id(buffers.expert_map, expert);
}

/** Writes what lies past the last group: pads, and blocks of no expert. All threads of the grid. */
static __device__ void close_list(const align_problem &problem, const align_buffers &buffers, int num_blocks)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x, num_threads = gridDim.x * blockDim.x;
    const int capacity = (int)problem.capacity;

    for (int64_t place = (int64_t)num_blocks * problem.block_size + first; place < capacity; place += num_threads)
        buffers.sorted_token_ids[place] = (int)problem.numel;
    for (int block = num_blocks + first; block < capacity / problem.block_size; block += num_threads)
        buffers.expert_ids[block] = -1;
}
// [pads]

/* --- few ids ------------------------------------------------------------------------------------------------------ */

// [few_shared]
/** How many 32-bit words have a bit for each id; a multiple of 4, for loads of 16 bytes. */
static __host__ __device__ int words_of_marks(int64_t numel)
{
    return round_up((int)(numel + WARP_SIZE - 1) / WARP_SIZE, 4);
}

static size_t few_shared_bytes(const align_problem *problem)
{
    const int experts = round_up(problem->num_experts, WARP_SIZE);

    return (size_t)(experts + experts / WARP_SIZE + 3) / 4 * 16 +
           (size_t)FEW_EXPERTS * words_of_marks(problem->numel) * sizeof(unsigned);
}

/** How many bits below bit `i` are set. */
static __device__ int rank_of(const unsigned *marks, int i)
{
    const int last = i / WARP_SIZE;
    int rank = __popc(marks[last] & ((1u << i % WARP_SIZE) - 1));

#pragma unroll 4
    for (int word = 0; word < last; word++)
        rank += __popc(marks[word]);
    return rank;
}
// [few_shared]

// [few]
/** Grid: a block for every FEW_EXPERTS experts. Each counts all ids, and writes the groups of its own experts. */
template <typename Id>
static __global__ void __launch_bounds__(1024)
    align_few_kernel(align_problem problem, align_buffers buffers, divisor block_size)
{
    extern __shared__ int4 shared[];
    __shared__ int own_begins[FEW_EXPERTS];
    const int num_experts = problem.num_experts, experts = round_up(num_experts, WARP_SIZE);
    const int num_sums = experts / WARP_SIZE, words = words_of_marks(problem.numel);
    int *const counts = (int *)shared, *const sums = counts + experts; /* [experts], [num_sums] */
    unsigned *const marks = (unsigned *)(shared + (experts + num_sums + 3) / 4); /* [FEW_EXPERTS][words] */
    const int thread = threadIdx.x, lane = thread % WARP_SIZE, warp = thread / WARP_SIZE;
    const int num_threads = blockDim.x, num_warps = num_threads / WARP_SIZE;
    const int first_own = blockIdx.x * FEW_EXPERTS;
    const Id *const topk_ids = (const Id *)buffers.topk_ids;
    int expert[FEW_IDS_PER_THREAD];
    // [few]

    // [few_count]
#pragma unroll
    for (int k = 0; k < FEW_IDS_PER_THREAD; k++) {
        const int i = thread + k * num_threads;

        expert[k] = i < problem.numel ? expert_of(topk_ids[i], num_experts) : -1;
    }
    for (int e = thread; e < experts; e += num_threads)
        counts[e] = 0;
    for (int word = thread; word < FEW_EXPERTS * words; word += num_threads)
        marks[word] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < FEW_IDS_PER_THREAD; k++) {
        const int i = thread + k * num_threads, own = expert[k] - first_own;

        if (expert[k] >= 0)
            atomicAdd(&counts[expert[k]], 1);
        if (expert[k] >= 0 && own >= 0 && own < FEW_EXPERTS)
            atomicOr(&marks[own * words + i / WARP_SIZE], 1u << i % WARP_SIZE);
    }
    __syncthreads();
    // [few_count]

    // [few_scan]
    for (int e = thread; e < experts; e += num_threads) {
        int sum;
        const int before = warp_exclusive_scan(quotient_up(counts[e], block_size), &sum);

        if (lane == 0)
            sums[e / WARP_SIZE] = sum;
        if (e >= first_own && e < first_own + FEW_EXPERTS)
            own_begins[e - first_own] = before; /* of the blocks of its 32 experts */
    }
    __syncthreads();
    const int before_own = warp_sum(sums, first_own / WARP_SIZE), total = warp_sum(sums, num_sums);
    // [few_scan]

    // [few_write]
#pragma unroll
    for (int k = 0; k < FEW_IDS_PER_THREAD; k++) {
        const int i = thread + k * num_threads, own = expert[k] - first_own;

        if (expert[k] >= 0 && own >= 0 && own < FEW_EXPERTS)
            buffers.sorted_token_ids[(int64_t)(before_own + own_begins[own]) * problem.block_size +
                                     rank_of(marks + own * words, i)] = i;
    }
    for (int own = warp; own < FEW_EXPERTS && first_own + own < num_experts; own += num_warps) {
        const int count = counts[first_own + own];

        close_group(problem, buffers, first_own + own, count, before_own + own_begins[own],
                    quotient_up(count, block_size), 0, 1);
    }
    close_list(problem, buffers, total);
    if (blockIdx.x == 0 && thread == 0)
        *buffers.num_tokens_post_padded = total * problem.block_size;
    // [few_write]
}

/* --- many ids ----------------------------------------------------------------------------------------------------- */

// [state]
/**
 * The workspace, all zeros before its first launch. Two sets of rows, in each a row for every block. A launch writes to
 * the set that the last one did not, and clears what the last one wrote: so what it finds in its own set are zeros.
 */
struct exchange {
    word64 last;    /* of the last launch: the words it wrote, times two, and in the lowest bit to which set */
    word64 leavers; /* blocks of this launch that have read all they need; in the upper half those that gave up */
};                  /* and then the rows: [2][ALIGN_MOST_BLOCKS * experts / 2] words */
static const word64 WRITTEN = 1ull << 63; /* in a word that says something */
// [state]

// [wait]
static __device__ word64 load_word(const word64 *word)
{
    return *(const volatile word64 *)word;
}

/** Looks at the word until it says something; 0 if that takes too long. `seen` is what was there before. */
static __device__ word64 wait_for(const word64 *word, word64 seen)
{
    for (int polls = 0; !(seen & WRITTEN) && polls < MOST_POLLS; polls++) {
        __nanosleep(20);
        seen = load_word(word);
    }
    return seen & WRITTEN ? seen : 0;
}
// [wait]

// [many_shared]
/** What a thread block of align_many_kernel has in shared memory. `experts` is a multiple of WARP_SIZE. */
template <int THREADS, int IDS>
struct many_shared {
    static constexpr int WARPS = THREADS / WARP_SIZE, TILE = THREADS * IDS;
    int experts;
    int *sums;                   /* [experts / WARP_SIZE] */
    int *part_counts;            /* [experts] ids of this block's part, but for its last tile */
    int *tile_counts;            /* [experts] ids of a tile */
    int *tile_begins;            /* [experts] where they begin in `staged` */
    int *counts;                 /* [experts] ids of all blocks */
    int *begins;                 /* [experts] first block of rows */
    int *cursors;                /* [experts] place of the first of this block's ids that has been written */
    unsigned *staged;            /* [TILE] a tile's ids by expert: the expert, times 65536, and the position */
    unsigned short *warp_counts; /* [WARPS][experts] ids of each warp; later those of the warps before it */
    int *partial;                /* [groups][2][experts], in the place of warp_counts */

    /** Groups of threads that read rows at the same time. A row has `words` words, one for each thread of a group. */
    static __host__ __device__ int groups(int words) { return words < THREADS ? THREADS / words : 1; }

    static size_t bytes(int experts, int words)
    {
        const size_t counting = (size_t)WARPS * experts * sizeof(unsigned short);
        const size_t reading = (size_t)2 * groups(words) * experts * sizeof(int);

        return (7 * (size_t)experts + TILE) * sizeof(int) + (counting > reading ? counting : reading);
    }

    __device__ many_shared(int4 *shared, int num_experts) : experts(num_experts)
    {
        sums = (int *)shared;
        part_counts = sums + experts;
        tile_counts = part_counts + experts;
        tile_begins = tile_counts + experts;
        counts = tile_begins + experts;
        begins = counts + experts;
        cursors = begins + experts;
        staged = (unsigned *)(cursors + experts);
        warp_counts = (unsigned short *)(staged + TILE);
        partial = (int *)(staged + TILE);
    }
};
// [many_shared]

// [scan_experts]
/** begins[e] becomes the sum of value(0) to value(e - 1); returns that of all. Begins with no barrier, ends with one. */
template <typename Value>
static __device__ int scan_experts(int *begins, int *sums, int experts, Value value)
{
    for (int e = threadIdx.x; e < experts; e += blockDim.x) {
        int sum;

        begins[e] = warp_exclusive_scan(value(e), &sum);
        if (e % WARP_SIZE == 0)
            sums[e / WARP_SIZE] = sum;
    }
    __syncthreads();
    for (int e = threadIdx.x; e < experts; e += blockDim.x)
        begins[e] += warp_sum(sums, e / WARP_SIZE);
    const int sum = warp_sum(sums, experts / WARP_SIZE);

    __syncthreads();
    return sum;
}
// [scan_experts]

// [order_tile]
/** Puts a tile's ids in order: fills tile_counts, tile_begins and staged. All threads; begins and ends with a barrier. */
template <typename Id, int THREADS, int IDS>
static __device__ __forceinline__ int order_tile(const many_shared<THREADS, IDS> &s, const Id *ids, int num_ids,
                                                 int num_experts)
{
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const int first = warp * IDS * WARP_SIZE + lane;
    unsigned short *const own = s.warp_counts + warp * s.experts;
    int expert[IDS], rank[IDS];

#pragma unroll
    for (int k = 0; k < IDS; k++) {
        const int i = first + k * WARP_SIZE;

        expert[k] = i < num_ids ? expert_of(ids[i], num_experts) : -1;
    }
    __syncthreads();
    for (int pair = lane; pair < s.experts / 2; pair += WARP_SIZE)
        ((unsigned *)own)[pair] = 0;
#pragma unroll
    for (int k = 0; k < IDS; k++) {
        const unsigned same = __match_any_sync(FULL_MASK, expert[k]);
        const unsigned below = same & ((1u << lane) - 1);

        __syncwarp();
        if (expert[k] >= 0)
            rank[k] = own[expert[k]] + __popc(below);
        __syncwarp();
        if (expert[k] >= 0 && below == 0)
            own[expert[k]] = (unsigned short)(rank[k] + __popc(same));
    }
    __syncthreads();
    for (int e = threadIdx.x; e < s.experts; e += THREADS) {
        int before = 0;

#pragma unroll
        for (int w = 0; w < THREADS / WARP_SIZE; w++) {
            const int count = s.warp_counts[w * s.experts + e];

            s.warp_counts[w * s.experts + e] = (unsigned short)before;
            before += count;
        }
        s.tile_counts[e] = before;
    }
    const int sum = scan_experts(s.tile_begins, s.sums, s.experts, [&](int e) { return s.tile_counts[e]; });

#pragma unroll
    for (int k = 0; k < IDS; k++)
        if (expert[k] >= 0)
            s.staged[s.tile_begins[expert[k]] + own[expert[k]] + rank[k]] =
                (unsigned)expert[k] << 16 | (unsigned)(first + k * WARP_SIZE);
    __syncthreads();
    return sum;
}
// [order_tile]

// [publish]
/** Tells the other blocks how many ids of each expert this part has, PER_WORD counts in a word. */
template <int PER_WORD, int THREADS, int IDS>
static __device__ void publish(const many_shared<THREADS, IDS> &s, word64 *row)
{
    for (int w = threadIdx.x; w < s.experts / PER_WORD; w += THREADS) {
        word64 word = WRITTEN;

#pragma unroll
        for (int f = 0; f < PER_WORD; f++) {
            const int e = w * PER_WORD + f;

            word |= (word64)(s.part_counts[e] + s.tile_counts[e]) << f * (64 / PER_WORD);
        }
        atomicExch(&row[w], word);
    }
}
// [publish]

// [read_rows]
/** Sums all blocks' rows into s.counts, and those of the blocks before this one into s.cursors. False: gave up. */
template <int PER_WORD, int THREADS, int IDS>
static __device__ bool read_rows(const many_shared<THREADS, IDS> &s, const word64 *rows)
{
    const int words = s.experts / PER_WORD, groups = s.groups(words), bits = 64 / PER_WORD;
    const int group = threadIdx.x / words, num_rows = gridDim.x;
    bool good = true;

    for (int w = threadIdx.x % words; group < groups && w < words; w += THREADS) {
        int sums[PER_WORD] = {0}, before[PER_WORD] = {0};

        for (int first = group; first < num_rows; first += ROWS_AT_ONCE * groups) {
            word64 seen[ROWS_AT_ONCE];

#pragma unroll
            for (int k = 0; k < ROWS_AT_ONCE; k++) {
                const int row = first + k * groups;

                seen[k] = row < num_rows ? load_word(&rows[row * words + w]) : WRITTEN;
            }
#pragma unroll
            for (int k = 0; k < ROWS_AT_ONCE; k++) {
                const int row = first + k * groups;
                const word64 word = wait_for(&rows[row * words + w], seen[k]);

                good = good && word != 0;
#pragma unroll
                for (int f = 0; f < PER_WORD; f++) {
                    const int count = (int)(word >> f * bits & ((1ull << (bits - 1)) - 1));

                    sums[f] += count;
                    before[f] += row < (int)blockIdx.x ? count : 0;
                }
            }
        }
#pragma unroll
        for (int f = 0; f < PER_WORD; f++) {
            s.partial[2 * group * s.experts + w * PER_WORD + f] = sums[f];
            s.partial[(2 * group + 1) * s.experts + w * PER_WORD + f] = before[f];
        }
    }
    if (__syncthreads_or(!good))
        return false;
    for (int e = threadIdx.x; e < s.experts; e += THREADS) {
        int sum = 0, before = 0;

        for (int g = 0; g < groups; g++) {
            sum += s.partial[2 * g * s.experts + e];
            before += s.partial[(2 * g + 1) * s.experts + e];
        }
        s.counts[e] = sum;
        s.cursors[e] = before;
    }
    return true;
}
// [read_rows]

// [leave]
/** A block has read all rows or given up. True for the last one, which leaves the workspace to the next launch. */
static __device__ bool leave(exchange *exchange, bool good, word64 last, bool *all_good)
{
    const word64 others = atomicAdd(&exchange->leavers, good ? 1ull : (1ull << 32) + 1);

    if ((unsigned)others != gridDim.x - 1)
        return false;
    *all_good = good && others >> 32 == 0;
    atomicExch(&exchange->leavers, 0ull);
    atomicExch(&exchange->last, last);
    return true;
}
// [leave]

// [many]
/** Grid: up to ALIGN_MOST_BLOCKS blocks, all on the device at the same time; each has part_ids ids, the last may have less. */
template <typename Id, int PER_WORD, int THREADS, int IDS>
static __global__ void __launch_bounds__(THREADS)
    align_many_kernel(align_problem problem, align_buffers buffers, divisor block_size, int part_ids)
{
    extern __shared__ int4 shared[];
    const int num_experts = problem.num_experts, thread = threadIdx.x;
    const many_shared<THREADS, IDS> s(shared, round_up(num_experts, WARP_SIZE));
    const int words = s.experts / PER_WORD, set_words = ALIGN_MOST_BLOCKS * s.experts / 2;
    exchange *const exchange = (struct exchange *)buffers.workspace;
    const word64 last = load_word(&exchange->last);
    const int64_t first_id = (int64_t)blockIdx.x * part_ids;
    const Id *const ids = (const Id *)buffers.topk_ids + first_id;
    const int num_ids = (int)min((int64_t)part_ids, problem.numel - first_id);
    int tile = (num_ids - 1) / s.TILE * s.TILE;
    // [many]

    // [many_count]
    for (int e = thread; e < s.experts; e += THREADS)
        s.part_counts[e] = 0;
    if (tile > 0)
        __syncthreads();
    for (int i = thread; i < tile; i += THREADS) {
        const int expert = expert_of(ids[i], num_experts);

        if (expert >= 0)
            atomicAdd(&s.part_counts[expert], 1);
    }
    int in_tile = order_tile(s, ids + tile, num_ids - tile, num_experts);
    // [many_count]

    // [many_exchange]
    const int set = !(last & 1);
    word64 *const sets = (word64 *)(exchange + 1), *const rows = sets + set * set_words, *const old = sets + !set * set_words;

    publish<PER_WORD>(s, rows + blockIdx.x * words);
    for (int i = blockIdx.x * THREADS + thread; i < (int)(last >> 1); i += gridDim.x * THREADS)
        old[i] = 0;
    const bool good = read_rows<PER_WORD>(s, rows);
    const int total = good ? scan_experts(s.begins, s.sums, s.experts,
                                          [&](int e) { return quotient_up(s.counts[e], block_size); })
                           : 0;
    bool all_good;

    if (thread == 0 && leave(exchange, good, (word64)gridDim.x * words << 1 | set, &all_good))
        *buffers.num_tokens_post_padded = all_good ? total * problem.block_size : -1;
    if (!good)
        return;
    // [many_exchange]

    // [many_write]
    for (int e = thread; e < s.experts; e += THREADS)
        s.cursors[e] += s.begins[e] * problem.block_size + s.part_counts[e] + s.tile_counts[e];
    for (;; tile -= s.TILE) {
        for (int e = thread; e < s.experts; e += THREADS) {
            s.cursors[e] -= s.tile_counts[e];
            s.tile_begins[e] = s.cursors[e] - s.tile_begins[e]; /* from a place in `staged` to one in the list */
        }
        __syncthreads();
        for (int i = thread; i < in_tile; i += THREADS) {
            const unsigned staged = s.staged[i];

            buffers.sorted_token_ids[s.tile_begins[staged >> 16] + i] = (int)(first_id + tile + (staged & 0xffff));
        }
        if (tile == 0)
            break;
        in_tile = order_tile(s, ids + tile - s.TILE, s.TILE, num_experts);
    }
    // [many_write]

    // [many_close]
    const int num_warps = gridDim.x * s.WARPS, number = thread / WARP_SIZE * gridDim.x + blockIdx.x;
    const int shares = max(num_warps / num_experts, 1);

    for (int e = number / shares; e < num_experts; e += num_warps / shares)
        close_group(problem, buffers, e, s.counts[e], s.begins[e], quotient_up(s.counts[e], block_size), number % shares,
                    shares);
    close_list(problem, buffers, total);
    // [many_close]
}

/* --- launch ------------------------------------------------------------------------------------------------------- */

// [launch_few]
static divisor divisor_of(int value)
{
    return divisor{(unsigned)value, 0xffffffffu / (unsigned)value};
}

template <typename Id>
static cudaError_t launch_few(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((problem->num_experts + FEW_EXPERTS - 1) / FEW_EXPERTS);
    const int64_t wanted = (problem->numel + FEW_IDS_PER_THREAD - 1) / FEW_IDS_PER_THREAD;
    const int threads = wanted <= 256 ? 256 : round_up((int)wanted, WARP_SIZE);

    align_few_kernel<Id><<<blocks, threads, few_shared_bytes(problem), stream>>>(*problem, *buffers,
                                                                                 divisor_of(problem->block_size));
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
template <typename Id, int PER_WORD, int THREADS, int IDS>
static cudaError_t launch_parts(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream,
                                int blocks)
{
    typedef many_shared<THREADS, IDS> shared;
    const int experts = round_up(problem->num_experts, WARP_SIZE);
    const size_t shared_bytes = shared::bytes(experts, experts / PER_WORD);
    align_problem by_value = *problem;
    align_buffers pointers = *buffers;
    divisor block_size = divisor_of(problem->block_size);
    int resident, part_ids;
    void *arguments[] = {&by_value, &pointers, &block_size, &part_ids};
    const auto kernel = align_many_kernel<Id, PER_WORD, THREADS, IDS>;
    const cudaError_t status = resident_blocks(kernel, THREADS, shared_bytes, &resident);

    if (status != cudaSuccess)
        return status;
    blocks = blocks < resident ? blocks : resident;
    part_ids = round_up((int)((problem->numel + blocks - 1) / blocks), WARP_SIZE);
    if (part_ids > (PER_WORD == 2 ? INT32_MAX : INT16_MAX)) /* a count would not fit into its bits */
        return launch_parts<Id, 2, 1024, 4>(problem, buffers, stream, resident);
    blocks = (int)((problem->numel + part_ids - 1) / part_ids);
    return cudaLaunchCooperativeKernel(kernel, blocks, THREADS, arguments, shared_bytes, stream);
}

/** Many ids: a tile for each block as long as there are blocks enough, then several. */
template <typename Id>
static cudaError_t launch_many(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const int64_t numel = problem->numel;

    if (numel <= 64 * 512)
        return launch_parts<Id, 4, 512, 1>(problem, buffers, stream, (int)((numel + 511) / 512));
    if (numel <= 64 * 1024)
        return launch_parts<Id, 4, 512, 2>(problem, buffers, stream, (int)((numel + 1023) / 1024));
    if (numel <= 128 * 2048)
        return launch_parts<Id, 4, 512, 4>(problem, buffers, stream, (int)((numel + 2047) / 2048));
    return launch_parts<Id, 2, 1024, 4>(problem, buffers, stream, ALIGN_MOST_BLOCKS);
}
// [launch_many]

// [launch]
template <typename Id>
static cudaError_t launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    const bool few = problem->kernel == ALIGN_KERNEL_AUTO ? problem->numel <= FEW_IDS
                                                          : problem->kernel == ALIGN_KERNEL_SMALL || problem->numel == 0;

    return few ? launch_few<Id>(problem, buffers, stream) : launch_many<Id>(problem, buffers, stream);
}

cudaError_t align_launch(const align_problem *problem, const align_buffers *buffers, cudaStream_t stream)
{
    return problem->wide_ids ? launch<int64_t>(problem, buffers, stream) : launch<int>(problem, buffers, stream);
}
// [launch]
