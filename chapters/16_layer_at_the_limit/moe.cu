/**
 * @file moe.cu
 * @brief Chapter 16: the layer at the card's ceilings, in one launch.
 *
 * Before: two products and a sum, a launch each; all warps copy, then multiply what has come.
 * Now:    one launch. A block takes tiles from one list until none is left: one of its warps copies, four or eight
 *         multiply, straight from shared memory. Tiles of the second product wait for those of the first that they need.
 * Watch:  launches 1; bulk copies, one for 8 KB; tensor-core operations of a tile fit the tokens that it has.
 */
#include "harness/moe/counters.h"
#include "kernels/bulk_copy.cuh"
#include "kernels/dtype.cuh"
#include "kernels/messages.cuh"
#include "kernels/transpose.cuh"
#include "kernels/warpgroup_product.cuh"

#include <limits.h>

// [constants]
typedef __nv_bfloat16 bf16;

enum { WARP_SIZE = 32, WARPGROUP = 4 * WARP_SIZE };
/* A warpgroup's product: 64 rows by a multiple of 8 tokens, here of 16; 16 deep. */
enum { ROWS = 64, PRODUCT_K = 16, TOKEN_STEP = 16 };
/* A stage's line is 128 bytes, 8 pieces; 8 of the threads that copy tokens copy one. */
enum { PIECE = 16 / sizeof(bf16), LINE = 64, PIECES = LINE / PIECE, SWAPPED = 8, SWIZZLE = 128 };
enum { COPIERS = WARPGROUP - WARP_SIZE, LINES_AT_ONCE = COPIERS / PIECES };
#ifndef MOST_POLLS
#define MOST_POLLS (1 << 24) /* seconds on a GPU */
#endif
static const unsigned FULL_MASK = 0xffffffffu, NONE = 0xffffffffu;
// [constants]

// [tile]
/**
 * What a block computes at a time: up to TOKENS tokens of one expert, and 2 x 64 rows of weights for each of its
 * consumers, which are warpgroups. A stage of the ring has a line of 64 elements of each row and token.
 */
template <int CONSUMERS_, int TOKENS_, int STAGES_>
struct tile {
    static constexpr int CONSUMERS = CONSUMERS_, TOKENS = TOKENS_, STAGES = STAGES_;
    static constexpr int CONSUMER_WARPS = CONSUMERS * WARPGROUP / WARP_SIZE;
    static constexpr int THREADS = (CONSUMERS + 1) * WARPGROUP; /* the last warpgroup copies */
    static constexpr int WARPS = THREADS / WARP_SIZE;
    static constexpr int LINES = (TOKENS + LINES_AT_ONCE - 1) / LINES_AT_ONCE; /* of tokens, that a thread copies of */
    static constexpr bool MOVES_REGISTERS = CONSUMERS > 1; /* from the last warpgroup to the others */
    static constexpr int WEIGHTS = CONSUMERS * 2 * ROWS;   /* rows of weights */
};
typedef tile<1, 32, 11> few_tokens;  /* 176 KB of weights under way */
typedef tile<2, 192, 4> many_tokens; /* 192 sums a thread: what fits into registers */
// [tile]

// [shared]
/** The tile that consumers compute next: told by the warps that copy. */
struct order {
    int count;        /* of tokens; -1: no more tiles */
    int expert;       /* -1: not here, its results are zeros */
    int block;        /* of tokens */
    int first_output; /* of the results' rows */
    bool first;       /* of the two products */
};

/** What a block has in shared memory. Barriers of two kinds: something has come, and it is no longer needed. */
template <typename Tile>
struct shared {
    bf16 ring[Tile::STAGES][Tile::WEIGHTS + Tile::TOKENS][LINE];
    int positions[2][Tile::TOKENS];
    order orders[2];
    mbarrier filled[Tile::STAGES], emptied[Tile::STAGES], taken[2], ordered[2], done[2];
};

/** A place in a ring, and how often the ring has been gone round, even or odd. */
template <int PLACES>
struct turn {
    int place = 0;
    unsigned parity = 0;

    __device__ void next()
    {
        place = place + 1 == PLACES ? 0 : place + 1;
        parity ^= place == 0;
    }
};
// [shared]

// [counters]
/** Zeros before a launch, and after it. */
struct counters {
    int next;     /* tiles that have been taken, but for the first of every block */
    int finished; /* warps that have stored their part of a tile of the second product */
    int failed;   /* somebody has waited too long */
    int left;     /* warps that need none of this any more */
    int ready[1]; /* of each block of tokens: warps that have stored their part of a tile of the first product */
};

/** Says that the warp has stored something. */
static __device__ void count_up(int *counter)
{
    __syncwarp();
    if (threadIdx.x % WARP_SIZE == 0)
        add_release(counter, 1);
}

/** Waits, as a warp, until the counter has come to `count`. False: it has taken too long, here or elsewhere. */
static __device__ bool wait_for(counters *shared, const int *counter, int count)
{
    bool there = load_acquire(counter) >= count;

    for (int polls = 0; !there && polls < MOST_POLLS && *(volatile int *)&shared->failed == 0; polls++) {
        __nanosleep(40);
        there = load_acquire(counter) >= count;
    }
    if (!there)
        *(volatile int *)&shared->failed = 1;
    return __all_sync(FULL_MASK, there);
}
// [counters]

// [find_tile]
/** How many tiles the results of each product are for one block of tokens. */
template <typename Tile, bool FIRST>
static __host__ __device__ int tiles_of(const moe_problem &problem)
{
    const int outputs = Tile::WEIGHTS / (FIRST ? 2 : 1),
              width = FIRST ? problem.intermediate_size : problem.hidden_size;

    return (width + outputs - 1) / outputs;
}

/**
 * Tile `item` of the list: all of the first product, then all of the second. An expert's blocks of tokens are neighbours
 * in `expert_ids`; tiles that need the same weights are made neighbours, of 32 blocks at a time, as in chapter 11c.
 */
template <typename Tile>
static __device__ order find_tile(const moe_problem &problem, const int *expert_ids, int num_blocks, int item)
{
    const int lane = threadIdx.x % WARP_SIZE, tiles_of_first = num_blocks * tiles_of<Tile, true>(problem);
    const bool first = item < tiles_of_first;
    const int tiles = first ? tiles_of<Tile, true>(problem) : tiles_of<Tile, false>(problem);
    const int number = first ? item : item - tiles_of_first, outputs = Tile::WEIGHTS / (first ? 2 : 1);
    const int block = number / tiles, window = block / WARP_SIZE * WARP_SIZE;
    const int expert_here = window + lane < num_blocks ? expert_ids[window + lane] : -1;
    const int expert = __shfl_sync(FULL_MASK, expert_here, block % WARP_SIZE);
    const unsigned same = __ballot_sync(FULL_MASK, expert_here == expert);
    const int lowest = window + __ffs((int)same) - 1, i = number - lowest * tiles;

    if (expert < 0) /* nobody's weights, and perhaps not neighbours */
        return order{0, expert, block, number % tiles * outputs, first};
    return order{0, expert, lowest + i % __popc(same), i / __popc(same) * outputs, first};
}

/** Reads a block's positions. Pads are last. Returns how many are none. */
template <typename Tile>
static __device__ int find_positions(const moe_problem &problem, const moe_buffers &buffers, int block, int *positions)
{
    const int num_positions = (int)(problem.num_tokens * problem.topk), lane = threadIdx.x % WARP_SIZE;
    const int *const places = buffers.sorted_token_ids + (int64_t)block * problem.block_size;
    int count = 0;

#pragma unroll
    for (int i = lane; i < Tile::TOKENS; i += WARP_SIZE) {
        positions[i] = i < problem.block_size ? places[i] : num_positions;
        count += __popc(__ballot_sync(FULL_MASK, positions[i] < num_positions));
    }
    return count;
}
// [find_tile]

/* --- copies ------------------------------------------------------------------------------------------------------- */

// [weights]
/** Asks for a step's weights: every consumer's two boxes of 64 rows. */
template <typename Tile>
static __device__ void copy_weights(const moe_problem &problem, const order &tile, const tensor_map *weights, int k,
                                    bf16 (*stage)[LINE], mbarrier *filled)
{
    mbarrier_arrive_expect(filled, Tile::WEIGHTS * LINE * sizeof(bf16));
#pragma unroll
    for (int box = 0; box < 2 * Tile::CONSUMERS; box++) {
        const int row = tile.first ? tile.expert * 2 * problem.intermediate_size + tile.first_output + box / 2 * ROWS +
                                         box % 2 * problem.intermediate_size
                                   : tile.expert * problem.hidden_size + tile.first_output + box * ROWS;

        bulk_copy_tile(stage[box * ROWS], weights, row, k, filled);
    }
}

/** Takes tiles until there are no more, tells the others, and copies their weights. One warp. */
template <typename Tile>
static __device__ void copy_all_weights(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                        const tensor_map *w13, const tensor_map *w2, shared<Tile> &s)
{
    const int lane = threadIdx.x % WARP_SIZE, num_blocks = *buffers.num_tokens_post_padded / problem.block_size;
    const int num_tiles = num_blocks * (tiles_of<Tile, true>(problem) + tiles_of<Tile, false>(problem));
    turn<Tile::STAGES> at;
    turn<2> slot;

    for (int item = blockIdx.x, next = 0;; item = next, slot.next()) {
        order tile = {-1, 0, 0, 0, false};

        mbarrier_wait(&s.done[slot.place], slot.parity ^ 1);
        if (item < num_tiles) {
            if (lane == 0)
                next = gridDim.x + atomicAdd(&counters->next, 1);
            next = __shfl_sync(FULL_MASK, next, 0);
            tile = find_tile<Tile>(problem, buffers.expert_ids, num_blocks, item);
        }
        if (lane == 0) {
            s.orders[slot.place] = tile;
            mbarrier_arrive(&s.taken[slot.place]);
        }
        if (tile.count < 0)
            return;
        if (tile.expert >= 0 && lane == 0)
            for (int k = 0; k < (tile.first ? problem.hidden_size : problem.intermediate_size); k += LINE, at.next()) {
                mbarrier_wait(&s.emptied[at.place], at.parity ^ 1);
                copy_weights<Tile>(problem, tile, tile.first ? w13 : w2, k, s.ring[at.place], &s.filled[at.place]);
            }
        __syncwarp();
    }
}
// [weights]

// [tokens]
/** Adds to an order which positions they are, and tells everybody. One warp. */
template <typename Tile>
static __device__ void complete_order(const moe_problem &problem, const moe_buffers &buffers, turn<2> slot,
                                      shared<Tile> &s)
{
    order &tile = s.orders[slot.place];

    mbarrier_wait(&s.taken[slot.place], slot.parity);
    if (tile.count >= 0) {
        const int count = find_positions<Tile>(problem, buffers, tile.block, s.positions[slot.place]);

        __syncwarp();
        if (threadIdx.x % WARP_SIZE == 0)
            tile.count = count;
    }
    if (threadIdx.x % WARP_SIZE == 0)
        mbarrier_arrive(&s.ordered[slot.place]);
}

/**
 * Copies the tokens' lines of a tile, step by step; 8 threads a line. `rows` are the thread's, in pieces from the first row
 * on; NONE is a line of zeros.
 */
template <typename Tile>
static __device__ __forceinline__ void copy_tokens(const bf16 *tokens, int length, const unsigned (&rows)[Tile::LINES],
                                                   int lines, turn<Tile::STAGES> &at, shared<Tile> &s)
{
    const int thread = threadIdx.x % WARPGROUP - WARP_SIZE, piece = thread % PIECES;
    const int4 *from = (const int4 *)tokens + piece;

#pragma unroll 1
    for (int k = 0; k < length; k += LINE, from += PIECES, at.next()) {
        bf16(*const stage)[LINE] = s.ring[at.place] + Tile::WEIGHTS;

        mbarrier_wait(&s.emptied[at.place], at.parity ^ 1);
#pragma unroll
        for (int i = 0; i < Tile::LINES; i++) {
            const int line = thread / PIECES + i * LINES_AT_ONCE;

            if (line < lines)
                cp_async_16(stage[line] + (piece ^ line % SWAPPED) * PIECE, from + (rows[i] == NONE ? 0 : rows[i]),
                            rows[i] == NONE ? 0 : 16);
        }
        mbarrier_arrive_cp_async(&s.filled[at.place]);
    }
}

/** Copies the tokens of all tiles. Three warps. */
template <typename Tile>
static __device__ void copy_all_tokens(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                       shared<Tile> &s)
{
    const int thread = threadIdx.x % WARPGROUP - WARP_SIZE,
              needed = tiles_of<Tile, true>(problem) * Tile::CONSUMER_WARPS;
    turn<Tile::STAGES> at;
    turn<2> slot;

    for (;; slot.next()) {
        unsigned rows[Tile::LINES];

        if (thread < WARP_SIZE)
            complete_order<Tile>(problem, buffers, slot, s);
        mbarrier_wait(&s.ordered[slot.place], slot.parity);
        const order tile = s.orders[slot.place];

        if (tile.count < 0)
            return;
        const int length = tile.first ? problem.hidden_size : problem.intermediate_size;
        const bool ready = tile.first || tile.expert < 0 || wait_for(counters, &counters->ready[tile.block], needed);

#pragma unroll
        for (int i = 0; i < Tile::LINES; i++) {
            const int line = thread / PIECES + i * LINES_AT_ONCE;
            const unsigned position = line < tile.count ? s.positions[slot.place][line] : 0;

            rows[i] = !ready || line >= tile.count
                          ? NONE
                          : (tile.first ? position / problem.topk : position) * (length / PIECE);
        }
        __syncwarp();
        if (threadIdx.x % WARP_SIZE == 0)
            mbarrier_arrive(&s.done[slot.place]);
        if (tile.expert >= 0)
            copy_tokens<Tile>((const bf16 *)(tile.first ? buffers.hidden : buffers.intermediate), length, rows,
                              (tile.count + TOKEN_STEP - 1) / TOKEN_STEP * TOKEN_STEP, at, s);
    }
}
// [tokens]

/* --- consumers ---------------------------------------------------------------------------------------------------- */

// [multiply]
/** The sums of a consumer's 2 x 64 rows and N tokens, over `steps` stages. */
template <typename Tile, int N>
static __device__ __forceinline__ void multiply(float (&sums)[2][N / 2], int steps, turn<Tile::STAGES> &at,
                                                shared<Tile> &s)
{
    const int consumer = threadIdx.x / WARPGROUP, lane = threadIdx.x % WARP_SIZE;
    int before = 0;

    for (int step = 0; step < steps; step++, at.next()) {
        mbarrier_wait(&s.filled[at.place], at.parity);
        async_proxy_fence_shared(); /* what threads have copied is for the tensor cores, too */
        wgmma_keep(sums[0]);
        wgmma_keep(sums[1]);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < LINE; k += PRODUCT_K) {
            const bf16 *const weights = s.ring[at.place][consumer * 2 * ROWS] + k;
            const uint64_t tokens = wgmma_operand(s.ring[at.place][Tile::WEIGHTS] + k);

            wgmma_m64k16_bf16(sums[0], wgmma_operand(weights), tokens);
            wgmma_m64k16_bf16(sums[1], wgmma_operand(weights + ROWS * LINE), tokens);
        }
        wgmma_commit_group();
        wgmma_wait_group<1>(); /* the products of the step before have been made */
        if (step > 0 && lane == 0)
            mbarrier_arrive(&s.emptied[before]);
        before = at.place;
    }
    wgmma_wait_group<0>();
    wgmma_keep(sums[0]);
    wgmma_keep(sums[1]);
    if (steps > 0 && lane == 0)
        mbarrier_arrive(&s.emptied[before]);
}
// [multiply]

// [results]
/** x * sigmoid(x), divided roughly: f32's last two places are far beyond bf16's. */
static __device__ float silu(float x)
{
    return __fdividef(x, 1.0f + __expf(-x));
}

/** Two numbers as bf16, the first in the lower half. */
static __device__ unsigned pack(float low, float high)
{
    const unsigned upper = __bfloat16_as_ushort(__float2bfloat16_rn(high));

    return upper << 16 | __bfloat16_as_ushort(__float2bfloat16_rn(low));
}

/**
 * Stores a warp's results. A thread has, of 8 tokens, rows g and g + 8 of tokens 2t and 2t + 1, with g = lane / 4 and
 * t = lane % 4; transposed it has rows 2t and 2t + 1, and those + 8, of token g.
 */
template <typename Tile, int N>
static __device__ __forceinline__ void store(const moe_problem &problem, const moe_buffers &buffers, const order &tile,
                                             const int *positions, const float (&sums)[2][N / 2])
{
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE % 4, consumer = threadIdx.x / WARPGROUP;
    const int output = tile.first_output + consumer * ROWS * (tile.first ? 1 : 2);

    if (output >= (tile.first ? problem.intermediate_size : problem.hidden_size))
        return; /* the warpgroup as a whole */
#pragma unroll
    for (int i = 0; i < N / 8; i++) {
        const float *const a = sums[0] + 4 * i, *const b = sums[1] + 4 * i;
        const int token = i * 8 + lane / 4;

        if (tile.first) {
            const unsigned low = transpose_8x8(pack(silu(a[0]) * b[0], silu(a[1]) * b[1]));
            const unsigned high = transpose_8x8(pack(silu(a[2]) * b[2], silu(a[3]) * b[3]));

            if (token < tile.count) {
                unsigned *const to = (unsigned *)((bf16 *)buffers.intermediate + output + warp * 16 + lane % 4 * 2 +
                                                  (int64_t)positions[token] * problem.intermediate_size);
                to[0] = low;
                to[4] = high;
            }
        } else {
            const uint4 four = make_uint4(transpose_8x8(pack(a[0], a[1])), transpose_8x8(pack(a[2], a[3])),
                                          transpose_8x8(pack(b[0], b[1])), transpose_8x8(pack(b[2], b[3])));

            if (token < tile.count)
                *(uint4 *)((bf16 *)buffers.partial + (int64_t)positions[token] * problem.hidden_size + output +
                           (warp * 4 + lane % 4) * PIECE) = four;
        }
    }
}
// [results]

// [consume]
/** Computes a tile with the narrowest product that has room for its tokens. */
template <typename Tile, int N>
static __device__ __forceinline__ void consume_tile(const moe_problem &problem, const moe_buffers &buffers,
                                                    const order &tile, const int *positions, turn<Tile::STAGES> &at,
                                                    shared<Tile> &s)
{
    if constexpr (N > TOKEN_STEP)
        if (tile.count <= N - TOKEN_STEP)
            return consume_tile<Tile, N - TOKEN_STEP>(problem, buffers, tile, positions, at, s);
    const int length = tile.first ? problem.hidden_size : problem.intermediate_size;
    float sums[2][N / 2] = {};

    multiply<Tile, N>(sums, tile.expert >= 0 ? length / LINE : 0, at, s);
    store<Tile, N>(problem, buffers, tile, positions, sums);
}

/** Computes tiles as they are ordered. */
template <typename Tile>
static __device__ void consume(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                               shared<Tile> &s)
{
    turn<Tile::STAGES> at;
    turn<2> slot;

    for (;; slot.next()) {
        mbarrier_wait(&s.ordered[slot.place], slot.parity);
        const order tile = s.orders[slot.place];

        if (tile.count < 0)
            return;
        consume_tile<Tile, Tile::TOKENS>(problem, buffers, tile, s.positions[slot.place], at, s);
        count_up(tile.first ? &counters->ready[tile.block] : &counters->finished);
        if (threadIdx.x % WARP_SIZE == 0)
            mbarrier_arrive(&s.done[slot.place]);
    }
}
// [consume]

// [sum]
/** Adds up what the experts of a token have made, 8 elements a thread, which come in the order of store(). Not `good`: NaN. */
template <typename Tile>
static __device__ void sum(const moe_problem &problem, const moe_buffers &buffers, bool good)
{
    const int pieces = problem.hidden_size / PIECE, topk = good ? problem.topk : 0;
    const int64_t num_pieces = problem.num_tokens * pieces;

    for (int64_t i = (int64_t)blockIdx.x * Tile::CONSUMER_WARPS * WARP_SIZE + threadIdx.x; i < num_pieces;
         i += (int64_t)gridDim.x * Tile::CONSUMER_WARPS * WARP_SIZE) {
        const int64_t token = i / pieces;
        const int piece = (int)(i - token * pieces);
        const int4 *const partial = (const int4 *)buffers.partial + token * problem.topk * pieces + piece;
        unsigned *const to = (unsigned *)((bf16 *)buffers.output + token * problem.hidden_size + piece / 16 * 128 +
                                          piece % 16 / 4 * 16 + piece % 4 * 2);
        float sums[PIECE] = {};

#pragma unroll 8
        for (int k = 0; k < topk; k++) {
            const int4 word = __ldcg(&partial[(int64_t)k * pieces]);
            const float weight = buffers.topk_weights[token * problem.topk + k];

#pragma unroll
            for (int e = 0; e < PIECE; e++)
                sums[e] += weight * unpack(word, (const bf16 *)NULL, e);
        }
#pragma unroll
        for (int e = 0; e < PIECE; e += 2)
            to[e / 4 * 32 + e / 2 % 2 * 4] = good ? pack(sums[e], sums[e + 1]) : 0xffffffffu;
    }
}

/** Leaves the launch, as a warp: the last one leaves the counters as they were. */
template <typename Tile>
static __device__ void leave(const moe_problem &problem, const moe_buffers &buffers, counters *counters)
{
    const int lane = threadIdx.x % WARP_SIZE, num_blocks = *buffers.num_tokens_post_padded / problem.block_size;
    int before = 0;

    __syncwarp();
    if (lane == 0)
        before = add_acquire_release(&counters->left, 1);
    if (__shfl_sync(FULL_MASK, before, 0) < (int)gridDim.x * Tile::WARPS - 1)
        return;
    __syncwarp();
    for (int i = lane; i < num_blocks; i += WARP_SIZE)
        counters->ready[i] = 0;
    if (lane == 0)
        counters->next = counters->finished = counters->failed = counters->left = 0;
}
// [sum]

// [kernel]
/** Grid: as many blocks as the device holds at a time. */
template <typename Tile>
static __global__ void __launch_bounds__(Tile::THREADS, 1)
    layer_kernel(moe_problem problem, moe_buffers buffers, counters *counters, const __grid_constant__ tensor_map w13,
                 const __grid_constant__ tensor_map w2)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    shared<Tile> &s = *(shared<Tile> *)bytes;

    if (threadIdx.x == 0) {
        for (int i = 0; i < Tile::STAGES; i++) {
            mbarrier_init(&s.filled[i], COPIERS + 1); /* whoever copies tokens, and weights */
            mbarrier_init(&s.emptied[i], Tile::CONSUMER_WARPS);
        }
        for (int i = 0; i < 2; i++) {
            mbarrier_init(&s.taken[i], 1);
            mbarrier_init(&s.ordered[i], 1);
            mbarrier_init(&s.done[i], Tile::WARPS - 1);
        }
        mbarrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x / WARPGROUP == Tile::CONSUMERS) {
        if constexpr (Tile::MOVES_REGISTERS)
            registers_decrease<56>();
        if (threadIdx.x / WARP_SIZE == Tile::CONSUMER_WARPS)
            copy_all_weights<Tile>(problem, buffers, counters, &w13, &w2, s);
        else
            copy_all_tokens<Tile>(problem, buffers, counters, s);
        leave<Tile>(problem, buffers, counters);
    } else {
        if constexpr (Tile::MOVES_REGISTERS)
            registers_increase<224>();
        consume<Tile>(problem, buffers, counters, s);
        const int num_blocks = *buffers.num_tokens_post_padded / problem.block_size;
        const int all = num_blocks * tiles_of<Tile, false>(problem) * Tile::CONSUMER_WARPS;
        const bool good = wait_for(counters, &counters->finished, all) && *(volatile int *)&counters->failed == 0;

        sum<Tile>(problem, buffers, good);
        leave<Tile>(problem, buffers, counters);
    }
}
// [kernel]

// [launch]
/** Another step's launch, for what this one has no kernel for. */
extern "C" cudaError_t moe_launch_any_shape(const moe_problem *problem, const moe_buffers *buffers,
                                            cudaStream_t stream);

/** A block for every multiprocessor: each holds one. */
template <typename Tile>
static cudaError_t resident_blocks(int *blocks)
{
    int device, processors, each;
    cudaError_t status = cudaFuncSetAttribute(layer_kernel<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              (int)sizeof(shared<Tile>));

    if (status == cudaSuccess)
        status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, layer_kernel<Tile>, Tile::THREADS,
                                                               sizeof(shared<Tile>));
    *blocks = status == cudaSuccess ? processors * each : 0;
    return status;
}

template <typename Tile>
static cudaError_t launch(moe_problem problem, moe_counted_buffers counted, cudaStream_t stream)
{
    const int64_t h = problem.hidden_size, i = problem.intermediate_size, experts = problem.num_local_experts;
    const moe_buffers &buffers = counted.buffers;
    tensor_map w13, w2;
    void *arguments[] = {&problem, &counted.buffers, &counted.counters, &w13, &w2};
    int blocks;
    cudaError_t status = resident_blocks<Tile>(&blocks);

    if (status == cudaSuccess && blocks == 0)
        return moe_launch_any_shape(&problem, &buffers, stream);
    if (status == cudaSuccess &&
        (tensor_map_bf16(&w13, buffers.w13, (uint64_t)(experts * 2 * i), (uint64_t)h, ROWS, LINE, SWIZZLE) ||
         tensor_map_bf16(&w2, buffers.w2, (uint64_t)(experts * h), (uint64_t)i, ROWS, LINE, SWIZZLE)))
        status = cudaErrorInvalidValue;
    if (status != cudaSuccess)
        return status;
    return cudaLaunchCooperativeKernel((const void *)layer_kernel<Tile>, blocks, Tile::THREADS, arguments,
                                       sizeof(shared<Tile>), stream);
}

/** Whether there is a kernel here: a tile's rows all exist or none of 64, and rows are counted in ints. */
static bool has_kernel(const moe_problem *problem)
{
    const int64_t h = problem->hidden_size, i = problem->intermediate_size, longer = h > i ? h : i;

    return problem->dtype == DTYPE_BF16 && h % (2 * ROWS) == 0 && i % ROWS == 0 &&
           problem->block_size <= many_tokens::TOKENS && problem->num_local_experts * 2 * longer <= INT_MAX &&
           problem->num_tokens * problem->topk * (longer / PIECE) < NONE;
}

cudaError_t moe_launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    if (!has_kernel(problem))
        return moe_launch_any_shape(problem, buffers, stream);
    const moe_counted_buffers &counted = *(const moe_counted_buffers *)buffers;

    return problem->block_size <= few_tokens::TOKENS ? launch<few_tokens>(*problem, counted, stream)
                                                     : launch<many_tokens>(*problem, counted, stream);
}
// [launch]
