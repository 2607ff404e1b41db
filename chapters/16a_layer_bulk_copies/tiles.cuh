/**
 * @file chapters/16a_layer_bulk_copies/tiles.cuh
 * @brief The tiles that blocks compute, and the synchronisation between the warps of a block and between blocks.
 */
#ifndef MOE_TILES_CUH
#define MOE_TILES_CUH

#include "harness/moe/moe.h"
#include "kernels/bulk_copy.cuh"
#include "kernels/dtype.cuh"
#include "kernels/messages.cuh"

// [constants]
typedef __nv_bfloat16 bf16;

enum { WARP_SIZE = 32 };
/* The product of one mma: 16 rows by 8 tokens, k = 16. */
enum { MMA_ROWS = 16, MMA_TOKENS = 8, MMA_K = 16 };
/* A row of a stage holds 2 KiB, copied by one instruction. 16 bytes of padding spread 8 rows over all 32 banks. */
enum { CHUNK = 16 / sizeof(bf16), K_STEP = 1024, ROW_PITCH = K_STEP + CHUNK };
#ifndef MAX_POLLS
#define MAX_POLLS (1 << 24) /* a time-out of seconds on a GPU */
#endif
static const unsigned FULL_MASK = 0xffffffffu;
// [constants]

// [tile]
/**
 * The tile that a block computes at a time: up to TOKENS tokens of one expert, and 16 rows of weights for each consumer
 * warp. A stage of the ring has 16 rows, either for all tokens or for one consumer's weights.
 */
template <int CONSUMERS_, int TOKENS_, int STAGES_>
struct tile {
    static constexpr int CONSUMERS = CONSUMERS_, TOKENS = TOKENS_, STAGES = STAGES_;
    static constexpr int CONSUMER_WARPS = CONSUMERS;
    static constexpr int WARPS = CONSUMER_WARPS + 2; /* the last two warps copy */
    static constexpr int THREADS = WARPS * WARP_SIZE;
    static constexpr int WEIGHT_ROWS = CONSUMERS * MMA_ROWS; /* rows of weights in the tile */
    static_assert(TOKENS == MMA_ROWS, "a stage has equally many rows for tokens and for weights");
    static_assert(STAGES > CONSUMERS, "a tile's step fits into the ring");
};
typedef tile<4, 16, 7> few_tokens; /* 226 KiB of the 227 KiB that a block may have */
// [tile]

// [shared]
/** The next tile for the consumers, published by the copying warps. */
struct work_tile {
    int count;        /* number of tokens; -1: no more tiles */
    int expert;       /* -1: the expert is on another GPU, and the results are zeros */
    int block;        /* index of the block of tokens */
    int first_output; /* index of the first element in the results' rows */
    bool gate_up;     /* true: a tile of the first product */
};

/** A block's shared memory. Its barriers signal either that a buffer has been filled, or that it may be overwritten. */
template <typename Tile>
struct block_shared {
    bf16 ring[Tile::STAGES][MMA_ROWS][ROW_PITCH];
    int positions[2][Tile::TOKENS];
    work_tile work_tiles[2];
    mbarrier filled[Tile::STAGES], emptied[Tile::STAGES], tile_ready[2], positions_ready[2], tile_released[2];
};

/** An index into a ring, and the parity of the number of completed rounds, which mbarrier_wait() needs. */
template <int STAGES>
struct pipeline_state {
    int index = 0;
    unsigned parity = 0;

    __device__ void next()
    {
        index = index + 1 == STAGES ? 0 : index + 1;
        parity ^= index == 0;
    }
};
// [shared]

// [counters]
/** The workspace, which is all zeros before and after a launch. */
struct counters {
    int next;              /* tiles taken so far, not counting each block's first */
    int down_stores;       /* warps that have stored their part of a tile of the second product */
    int failed;            /* 1: a warp's wait has timed out */
    int exited_warps;      /* warps that no longer need the counters */
    int gate_up_stores[1]; /* [blocks of tokens]: warps that have stored their part of a tile of the first product */
};

/** Adds 1 to the counter, with release semantics, once the whole warp has stored its part. */
static __device__ void increment_once_per_warp(int *counter)
{
    __syncwarp();
    if (threadIdx.x % WARP_SIZE == 0)
        add_release(counter, 1);
}

/**
 * Makes the warp wait until the counter reaches `count`. Returns false if the counter has not reached it because this
 * warp's wait, or another warp's, has timed out.
 */
static __device__ bool wait_for_count(counters *all, const int *counter, int count)
{
    bool reached = load_acquire(counter) >= count;

    for (int polls = 0; !reached && polls < MAX_POLLS && *(volatile int *)&all->failed == 0; polls++) {
        __nanosleep(40);
        reached = load_acquire(counter) >= count;
    }
    if (!reached)
        *(volatile int *)&all->failed = 1;
    return __all_sync(FULL_MASK, reached);
}
// [counters]

// [find_tile]
/** Returns the number of tiles that one block of tokens has in a product. */
template <typename Tile, bool GATE_UP>
static __host__ __device__ int tiles_per_token_block(const moe_problem &problem)
{
    const int outputs = Tile::WEIGHT_ROWS / (GATE_UP ? 2 : 1),
              width = GATE_UP ? problem.intermediate_size : problem.hidden_size;

    return (width + outputs - 1) / outputs;
}

/**
 * Returns tile `item` of the list: all tiles of the first product, then all of the second. An expert's blocks of tokens
 * are adjacent in `expert_ids`; within 32 blocks, tiles that need the same weights are adjacent in the list, as in
 * chapter 11d.
 */
template <typename Tile>
static __device__ work_tile find_tile(const moe_problem &problem, const int *expert_ids, int num_blocks, int item)
{
    const int lane = threadIdx.x % WARP_SIZE, gate_up_tiles = num_blocks * tiles_per_token_block<Tile, true>(problem);
    const bool gate_up = item < gate_up_tiles;
    const int tiles = gate_up ? tiles_per_token_block<Tile, true>(problem)
                              : tiles_per_token_block<Tile, false>(problem);
    const int number = gate_up ? item : item - gate_up_tiles, outputs = Tile::WEIGHT_ROWS / (gate_up ? 2 : 1);
    const int block = number / tiles, window = block / WARP_SIZE * WARP_SIZE;
    const int expert_here = window + lane < num_blocks ? expert_ids[window + lane] : -1;
    const int expert = __shfl_sync(FULL_MASK, expert_here, block % WARP_SIZE);
    const unsigned same = __ballot_sync(FULL_MASK, expert_here == expert);
    const int lowest = window + __ffs((int)same) - 1, i = number - lowest * tiles;

    if (expert < 0) /* reads no weights, so the order of its tiles does not matter */
        return work_tile{0, expert, block, number % tiles * outputs, gate_up};
    return work_tile{0, expert, lowest + i % __popc(same), i / __popc(same) * outputs, gate_up};
}

/** Reads a block's positions, which end with its padding. Returns the number of positions that are not padding. */
template <typename Tile>
static __device__ int read_positions(const moe_problem &problem, const moe_buffers &buffers, int block, int *positions)
{
    const int num_positions = (int)(problem.num_tokens * problem.topk), lane = threadIdx.x % WARP_SIZE;
    const int *const slots = buffers.sorted_token_ids + (int64_t)block * problem.block_size;
    const int position = lane < Tile::TOKENS ? slots[lane] : num_positions;

    if (lane < Tile::TOKENS)
        positions[lane] = position;
    return __popc(__ballot_sync(FULL_MASK, position < num_positions));
}
// [find_tile]

#endif
