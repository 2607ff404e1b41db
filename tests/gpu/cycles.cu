/**
 * @file cycles.cu
 * @brief Measures how many GPU clock cycles instructions and small sorts take. Prints one line per figure: its name,
 * the number and the unit. Exits with 1 if a result is wrong.
 *
 *   sh tests/gpu/figures.sh cycles
 */
#include "kernels/candidate.cuh"

#include <cstdio>

enum { WARP_SIZE = 32, STEPS = 256, SORTS = 64, TOPK = 8, ROUNDS = 10, MANY_WARPS = 32 };

static const unsigned FULL_MASK = 0xffffffffu;

static int failures;

/* --- chains: each operation needs the previous one's result ------------------------------------------------------- */

/** Run-time values that a chain uses; `word` is a kernel argument, so that the compiler cannot fold it. */
struct setting {
    unsigned word, lane;
    unsigned *buffer; /* [WARP_SIZE] in shared memory, for this warp only */
};

struct rotate {
    static __device__ unsigned step(unsigned x, const setting &)
    {
        asm volatile("shf.l.wrap.b32 %0, %0, %0, 1;" : "+r"(x));
        return x;
    }
};

struct bit_by_bfe {
    static __device__ unsigned step(unsigned x, const setting &at)
    {
        asm volatile("bfe.u32 %0, %1, %0, 1;" : "+r"(x) : "r"(at.word));
        return x;
    }
};

struct bit_by_shift_and_mask {
    static __device__ unsigned step(unsigned x, const setting &at)
    {
        asm volatile("shr.u32 %0, %1, %0; and.b32 %0, %0, 1;" : "+r"(x) : "r"(at.word));
        return x;
    }
};

struct shuffle_xor {
    static __device__ unsigned step(unsigned x, const setting &)
    {
        return __shfl_xor_sync(FULL_MASK, x, 1);
    }
};

struct shuffle_up {
    static __device__ unsigned step(unsigned x, const setting &)
    {
        return __shfl_up_sync(FULL_MASK, x, 1);
    }
};

struct shuffle_from_any_lane {
    static __device__ unsigned step(unsigned x, const setting &)
    {
        return __shfl_sync(FULL_MASK, x, x);
    }
};

struct shuffle_xor_of_8_lanes {
    static __device__ unsigned step(unsigned x, const setting &at)
    {
        return __shfl_xor_sync(FULL_MASK, x, 1, at.word ? 8 : 16); /* the width is known only at run time */
    }
};

struct exchange_in_shared_memory {
    static __device__ unsigned step(unsigned x, const setting &at)
    {
        at.buffer[at.lane] = x;
        __syncwarp();
        x = at.buffer[at.lane ^ 1];
        __syncwarp();
        return x;
    }
};

struct block_barrier {
    static __device__ unsigned step(unsigned x, const setting &)
    {
        __syncthreads();
        return x;
    }
};

/**
 * Runs a chain of dependent operations in one block. Stores in `took` the cycles of STEPS operations in the first warp,
 * measured in the second round.
 */
template <typename Chain>
static __global__ void __launch_bounds__(1024) chain(unsigned word, unsigned *out, long long *took)
{
    __shared__ unsigned buffers[MANY_WARPS][WARP_SIZE];
    const unsigned thread = threadIdx.x, lane = thread % WARP_SIZE;
    const setting at = {word, lane, buffers[thread / WARP_SIZE]};
    unsigned x = lane;

#pragma unroll 1
    for (int round = 0; round < 2; round++) { /* the first round loads the instruction cache */
        __syncthreads();
        asm volatile("" : "+r"(x)::"memory");
        const long long began = clock64();

#pragma unroll
        for (int i = 0; i < STEPS; i++)
            x = Chain::step(x, at);
        asm volatile("" : "+r"(x)::"memory");
        if (thread == 0)
            *took = clock64() - began;
    }
    out[thread] = x;
}

template <typename Chain>
static void report_chain(const char *name, int warps, void *out, long long *took)
{
    for (int run = 0; run < 3; run++) /* the last run is reported */
        chain<Chain><<<1, warps * WARP_SIZE>>>(0x5a5a5a5au, (unsigned *)out, took);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        failures++;
        return;
    }
    printf("%s %.2f cycles\n", name, (double)*took / STEPS);
}

/* --- choosing the best candidates --------------------------------------------------------------------------------- */

/** Returns the value of candidate `i` in sort `sort`. */
static __host__ __device__ float value_of(int sort, int i)
{
    return (float)((unsigned)(i * 64 + sort + 1) * 2654435761u >> 8);
}

static __device__ __forceinline__ candidate exchange(candidate mine, int distance)
{
    return {__shfl_xor_sync(FULL_MASK, mine.value, distance), __shfl_xor_sync(FULL_MASK, mine.id, distance)};
}

static __device__ __forceinline__ candidate compare_exchange(candidate mine, int distance, bool keep_better)
{
    const candidate other = exchange(mine, distance);

    return select(ranks_before(other, mine) == keep_better, other, mine);
}

/** Sorts the candidates of the first 2^STAGES lanes, as chapter 04 does. */
template <int STAGES>
static __device__ __forceinline__ candidate sort_lanes(candidate mine, unsigned lane)
{
#pragma unroll
    for (int s = 1; s <= STAGES; s++) {
#pragma unroll
        for (int d = s - 1; d >= 0; d--)
            mine = compare_exchange(mine, 1 << d, (s < STAGES && lane >> s & 1) == (lane >> d & 1));
    }
    return mine;
}

/** Returns the best 32 of two sorted sets of 32 candidates, using chapter 04's merge. */
static __device__ __forceinline__ candidate merge_lanes(candidate mine, candidate other, unsigned lane)
{
    other.value = __shfl_sync(FULL_MASK, other.value, WARP_SIZE - 1 - lane);
    other.id = __shfl_sync(FULL_MASK, other.id, WARP_SIZE - 1 - lane);
    mine = better(mine, other);
#pragma unroll
    for (int d = 4; d >= 0; d--)
        mine = compare_exchange(mine, 1 << d, (lane >> d & 1) == 0);
    return mine;
}

/** Returns the k-th best candidate in lane k by sorting COUNT candidates; if COUNT is 64, each lane starts with two. */
template <int COUNT>
struct by_sorting {
    static __device__ __forceinline__ candidate best(candidate mine, candidate second, unsigned lane)
    {
        constexpr int STAGES = COUNT == 16 ? 4 : 5;

        mine = sort_lanes<STAGES>(mine, lane);
        return COUNT > WARP_SIZE ? merge_lanes(mine, sort_lanes<STAGES>(second, lane), lane) : mine;
    }
};

/**
 * Keeps the better candidate of each pair of lanes that are `distance` apart, in both lanes; then sorts runs of 8
 * lanes, in a direction that depends on bit `bit` of the lane.
 */
static __device__ __forceinline__ candidate prune_lanes(candidate mine, unsigned lane, int distance, int bit)
{
    mine = better(mine, exchange(mine, distance));
#pragma unroll
    for (int d = 2; d >= 0; d--)
        mine = compare_exchange(mine, 1 << d, (lane >> bit & 1) == (lane >> d & 1));
    return mine;
}

/**
 * Returns the best 8 of 32 candidates in 14 steps: sorts runs of 8 and then, twice, keeps the better half of each pair
 * of runs and sorts it.
 */
struct by_pruning {
    static __device__ __forceinline__ candidate best(candidate mine, candidate, unsigned lane)
    {
#pragma unroll
        for (int s = 1; s <= 3; s++) {
#pragma unroll
            for (int d = s - 1; d >= 0; d--)
                mine = compare_exchange(mine, 1 << d, (lane >> s & 1) == (lane >> d & 1));
        }
        return prune_lanes(prune_lanes(mine, lane, 8, 4), lane, 16, 5);
    }
};

/** Returns the best candidates using chapter 03's rounds, each of which finds the best candidate and removes it. */
template <int COUNT>
struct by_maxima {
    static __device__ __forceinline__ candidate best(candidate mine, candidate second, unsigned lane)
    {
        const candidate no_candidate = {-1.0f, 0x7fffffff};
        candidate found = no_candidate;

#pragma unroll
        for (unsigned k = 0; k < TOPK; k++) {
            candidate winner = COUNT > WARP_SIZE ? better(mine, second) : mine;

#pragma unroll
            for (int distance = (COUNT < WARP_SIZE ? COUNT : WARP_SIZE) / 2; distance > 0; distance /= 2)
                winner = better(winner, exchange(winner, distance));
            found = select(lane == k, winner, found);
            mine = select(winner.id == mine.id, no_candidate, mine);
            second = select(winner.id == second.id, no_candidate, second);
        }
        return found;
    }
};

/**
 * Makes SORTS choices, one after another, in each warp of a block. `zero` is 0 and makes each choice depend on the
 * previous one. Stores the first warp's choices in `ids` [SORTS][TOPK] and the cycles of the second round in `took`.
 */
template <typename Way>
static __global__ void __launch_bounds__(1024) choose(int zero, int *ids, long long *took)
{
    const unsigned lane = threadIdx.x % WARP_SIZE;
    int waits_for = 0;

#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        __syncthreads();
        const long long began = clock64();

#pragma unroll 1
        for (int sort = 0; sort < SORTS; sort++) {
            const int i = (int)lane + (waits_for & zero);
            const candidate found = Way::best({value_of(sort, i), i}, {value_of(sort, i + WARP_SIZE), i + WARP_SIZE},
                                              lane);

            waits_for = found.id;
            if (threadIdx.x < TOPK)
                ids[sort * TOPK + lane] = found.id;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            *took = clock64() - began;
    }
}

/** Checks whether `ids` are the best TOPK of `count` candidates, in descending order. */
static bool are_best(const int *ids, int sort, int count)
{
    for (int k = 0; k < TOPK; k++) {
        int before = 0;

        for (int i = 0; i < count; i++)
            before += value_of(sort, i) > value_of(sort, ids[k]);
        if (ids[k] < 0 || ids[k] >= count || before != k)
            return false;
    }
    return true;
}

template <typename Way>
static void report_choice(const char *name, int count, int *ids, long long *took)
{
    const int warps[] = {1, MANY_WARPS};

    for (int w = 0; w < 2; w++) {
        for (int run = 0; run < 3; run++)
            choose<Way><<<1, warps[w] * WARP_SIZE>>>(0, ids, took);
        if (cudaDeviceSynchronize() != cudaSuccess) {
            failures++;
            return;
        }
        for (int sort = 0; sort < SORTS; sort++)
            failures += !are_best(ids + sort * TOPK, sort, count);
        printf("best_8_of_%d_by_%s_%d_warp%s %.1f cycles\n", count, name, warps[w], w ? "s" : "",
               (double)*took / SORTS / warps[w]);
    }
}

/* --- lanes of one warp that wait for each other ------------------------------------------------------------------- */

/**
 * Passes a number back and forth between lanes 0 and 1, each in its own loop. A warp in lockstep would never leave the
 * first loop.
 */
static __global__ void to_and_fro(int *rounds)
{
    __shared__ volatile int ball;
    const int me = threadIdx.x;
    int turns = 0;

    ball = 0;
    __syncwarp();
    if (me < 2)
        for (int round = 0; round < ROUNDS; round++) {
            while (ball != 2 * round + me && turns < 1 << 20) /* gives up after 2^20 turns */
                turns++;
            if (ball == 2 * round + me) {
                ball = 2 * round + me + 1;
                rounds[me] = round + 1;
            }
        }
}

static void report_lanes(int *rounds)
{
    rounds[0] = rounds[1] = 0;
    to_and_fro<<<1, WARP_SIZE>>>(rounds);
    failures += cudaDeviceSynchronize() != cudaSuccess;
    printf("rounds_of_%d_between_two_lanes %d rounds\n", ROUNDS, rounds[0] < rounds[1] ? rounds[0] : rounds[1]);
}

int main()
{
    long long *took;
    void *out;

    if (cudaMallocManaged(&took, sizeof(*took)) || cudaMallocManaged(&out, 1024 * sizeof(int)))
        return 3;
    report_chain<rotate>("rotate", 1, out, took);
    report_chain<bit_by_bfe>("bit_by_bfe", 1, out, took);
    report_chain<bit_by_shift_and_mask>("bit_by_shift_and_mask", 1, out, took);
    report_chain<shuffle_xor>("shuffle_xor", 1, out, took);
    report_chain<shuffle_up>("shuffle_up", 1, out, took);
    report_chain<shuffle_from_any_lane>("shuffle_from_any_lane", 1, out, took);
    report_chain<shuffle_xor_of_8_lanes>("shuffle_xor_with_width", 1, out, took);
    report_chain<exchange_in_shared_memory>("exchange_in_shared_memory", 1, out, took);
    report_chain<shuffle_xor>("shuffle_xor_32_warps", MANY_WARPS, out, took);
    report_chain<exchange_in_shared_memory>("exchange_in_shared_memory_32_warps", MANY_WARPS, out, took);
    report_chain<block_barrier>("block_barrier", 1, out, took);
    report_chain<block_barrier>("block_barrier_32_warps", MANY_WARPS, out, took);
    report_choice<by_sorting<16>>("sorting", 16, (int *)out, took);
    report_choice<by_maxima<16>>("maxima", 16, (int *)out, took);
    report_choice<by_sorting<32>>("sorting", 32, (int *)out, took);
    report_choice<by_pruning>("pruning", 32, (int *)out, took);
    report_choice<by_maxima<32>>("maxima", 32, (int *)out, took);
    report_choice<by_sorting<64>>("sorting", 64, (int *)out, took);
    report_choice<by_maxima<64>>("maxima", 64, (int *)out, took);
    report_lanes((int *)out);
    return failures > 0;
}
