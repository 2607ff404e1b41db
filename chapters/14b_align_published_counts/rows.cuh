/**
 * @file chapters/14b_align_published_counts/rows.cuh
 * @brief The blocks' published counts: one count row per block, in two sets; launches alternate between the sets.
 */
#ifndef ALIGN_ROWS_CUH
#define ALIGN_ROWS_CUH

#include "exchange.h"
#include "tile.cuh"

// [rows_constants]
#ifndef MAX_POLLS
#define MAX_POLLS (1 << 22) /* on a GPU, this many polls take seconds */
#endif

typedef unsigned long long word64;

/** Returns the number of count rows that a thread polls in one iteration, for words of `counts_per_word` counts. */
static constexpr __host__ __device__ int rows_per_poll(int counts_per_word)
{
    return counts_per_word == 4 ? 8 : 4;
}
// [rows_constants]

// [exchange]
/**
 * The workspace, which must be all zeros before its first launch. It has two sets, each with a count row per block. A
 * launch writes to the set that the previous launch did not use, and clears the other set, so that the next launch
 * finds zeros in its set.
 */
struct exchange {
    word64 previous; /* number of words written by the previous launch, times two; the lowest bit is its set */
    word64 arrivals; /* blocks of this launch that have read `previous`; the upper half has the bits of gave_up_bit() */
};                   /* followed by [2][ALIGN_MAX_BLOCKS] count rows of up to experts / 2 words */
static const word64 WRITTEN = 1ull << 63; /* this bit is set in every published word */

/** Returns the bit of exchange.arrivals that records that a block gave up waiting for the count rows of a set. */
static __device__ word64 gave_up_bit(int set)
{
    return 1ull << (32 + set);
}

static __device__ word64 load_word(const word64 *word)
{
    return *(const volatile word64 *)word;
}
// [exchange]

// [publish]
/**
 * Publishes `count`, the count of this thread's expert e, in the block's count row. A word holds the counts of
 * COUNTS_PER_WORD experts. All lanes of a warp must call this function together.
 */
template <int COUNTS_PER_WORD>
static __device__ void publish(word64 *row, int e, int count)
{
    word64 word = (word64)count;

#pragma unroll
    for (int counts = 1; counts < COUNTS_PER_WORD; counts *= 2)
        word |= __shfl_down_sync(FULL_MASK, word, counts) << counts * (64 / COUNTS_PER_WORD);
    if (e % COUNTS_PER_WORD == 0)
        atomicExch(&row[e / COUNTS_PER_WORD], word | WRITTEN);
}
// [publish]

// [read_rows]
/**
 * Stores a word's counts with one instruction. The halves of counts[0] are counts 0 and 2, those of counts[1] are
 * counts 1 and 3.
 */
template <int COUNTS_PER_WORD>
static __device__ void store_unpacked_counts(int *to, const word64 counts[2])
{
    if (COUNTS_PER_WORD == 4)
        *(int4 *)to = make_int4((int)counts[0], (int)counts[1], (int)(counts[0] >> 32), (int)(counts[1] >> 32));
    else
        *(int2 *)to = make_int2((int)counts[0], (int)counts[1]);
}

/**
 * Sums the count rows of all blocks into s.counts and those of earlier blocks into s.cursors. Returns false if this
 * block gives up.
 */
template <int EXPERTS, int COUNTS_PER_WORD, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ bool read_rows(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s,
                                                 const align_arguments &align, const word64 *rows)
{
    const int words = s.padded_experts / COUNTS_PER_WORD, teams = s.teams(words), bits = 64 / COUNTS_PER_WORD;
    const int team = threadIdx.x / words, num_rows = gridDim.x;
    const word64 mask = COUNTS_PER_WORD == 4 ? 0x0000ffff0000ffffull : 0xffffffffull;
    constexpr int ROWS_PER_POLL = rows_per_poll(COUNTS_PER_WORD);
    bool good = true;

    for (int w = threadIdx.x % words; team < teams && w < words; w += THREADS) {
        word64 sums[2] = {0, 0}, before[2] = {0, 0}; /* [0]: counts 0 and 2 of a word; [1]: counts 1 and 3 */

#pragma unroll 1
        for (int first = team; first < num_rows; first += ROWS_PER_POLL * teams) {
            // [poll]
            word64 seen[ROWS_PER_POLL];
            bool all = false;

#pragma unroll 1
            for (int polls = 0; !all && polls < MAX_POLLS; polls++) {
                if (polls > 0)
                    __nanosleep(20);
                all = true;
#pragma unroll
                for (int k = 0; k < ROWS_PER_POLL; k++) {
                    const int row = first + k * teams;

                    seen[k] = row < num_rows ? load_word(&rows[row * words + w]) : WRITTEN;
                }
#pragma unroll
                for (int k = 0; k < ROWS_PER_POLL; k++)
                    all = all && seen[k] & WRITTEN;
            }
            good = good && all;
            word64 sum = 0, earlier = 0; /* each count's bit field has room for the sum of ROWS_PER_POLL counts */

#pragma unroll
            for (int k = 0; k < ROWS_PER_POLL; k++) {
                const word64 word = seen[k] & ~WRITTEN;

                sum += word;
                earlier += first + k * teams < (int)blockIdx.x ? word : 0;
            }
            sums[0] += sum & mask;
            sums[1] += sum >> bits & mask;
            before[0] += earlier & mask;
            before[1] += earlier >> bits & mask;
            // [poll]
        }
        store_unpacked_counts<COUNTS_PER_WORD>(&s.partial[2 * team * s.padded_experts + w * COUNTS_PER_WORD], sums);
        store_unpacked_counts<COUNTS_PER_WORD>(&s.partial[(2 * team + 1) * s.padded_experts + w * COUNTS_PER_WORD],
                                               before);
    }
    if (__syncthreads_or(!good))
        return false;
    for (int e = threadIdx.x; e < s.padded_experts; e = next_expert<EXPERTS, THREADS>(e)) {
        int sum = 0, before = 0;

#pragma unroll(EXPERTS ? 8 : 1)
        for (int t = 0; t < teams; t++) {
            sum += s.partial[2 * t * s.padded_experts + e];
            before += s.partial[(2 * t + 1) * s.padded_experts + e];
        }
        s.counts[e] = sum;
        s.begins[e] = row_blocks_for(sum, align);
        s.cursors[e] = before;
    }
    return true;
}
// [read_rows]

// [collect_rows]
/**
 * Clears the words that the previous launch wrote to the other set (`previous` gives the number of words); then waits
 * for this launch's count rows and adds them up. The last block to arrive, that is, to increment `arrivals`, records
 * this launch in `previous`. Returns false if this block gives up.
 */
template <int EXPERTS, int COUNTS_PER_WORD, int THREADS, int IDS_PER_THREAD>
static __device__ __forceinline__ bool collect_rows(const many_shared<EXPERTS, THREADS, IDS_PER_THREAD> &s,
                                                    const align_arguments &align, exchange *workspace, word64 *sets,
                                                    int set_words, word64 previous)
{
    const int set = !(previous & 1), words = s.padded_experts / COUNTS_PER_WORD;
    word64 arrivals = 0;

#pragma unroll 1
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < (int)(previous >> 1); i += gridDim.x * THREADS)
        sets[!set * set_words + i] = 0;
    if (threadIdx.x == 0)
        arrivals = atomicAdd(&workspace->arrivals, 1ull);
    const bool good = read_rows<EXPERTS, COUNTS_PER_WORD>(s, align, sets + set * set_words);
    if (threadIdx.x == 0 &&
        (unsigned)arrivals == gridDim.x - 1) { /* all blocks have read `previous`, so it may change */
        atomicAnd(&workspace->arrivals, gave_up_bit(set));
        atomicExch(&workspace->previous, (word64)gridDim.x * words << 1 | set);
    }
    return good;
}
// [collect_rows]

// [report_failure]
/**
 * Sets num_tokens_post_padded to -1 at the end if any block gave up. `old` is the value that block 0 replaced there.
 */
static __device__ __forceinline__ void report_failure(const align_arguments &align, exchange *workspace, int set,
                                                      bool good, int old)
{
    if (threadIdx.x == 0 && !good) {
        atomicOr(&workspace->arrivals, gave_up_bit(set));
        __threadfence(); /* a thread that reads the -1 also reads the bit */
        atomicExch(align.num_tokens_post_padded, -1);
    } else if (threadIdx.x == 0 && blockIdx.x == 0 && old == -1) { /* is the -1 of this launch, or of an earlier one? */
        __threadfence();
        if (load_word(&workspace->arrivals) & gave_up_bit(set))
            atomicExch(align.num_tokens_post_padded, -1);
    }
}
// [report_failure]

#endif
