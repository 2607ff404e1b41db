/** @file chapters/16a_layer_bulk_copies/copies.cuh  The copying warps: one for weights, one for the rows of tokens. */
#ifndef MOE_COPIES_CUH
#define MOE_COPIES_CUH

#include "tiles.cuh"

// [lines]
/** Copies a stage's lines. Lane i copies the `remaining` elements at its `from`, but at most K_STEP elements, to line i. */
static __device__ void copy_rows(const bf16 *from, int remaining, int lines, bf16 (*stage)[PITCH], mbarrier *filled)
{
    const int lane = threadIdx.x % WARP_SIZE, bytes = (remaining < K_STEP ? remaining : K_STEP) * (int)sizeof(bf16);

    if (lane == 0)
        mbarrier_arrive_expect(filled, lines * bytes);
    __syncwarp(); /* so that the byte count is announced before the copies start */
    if (lane < lines)
        bulk_copy(stage[lane], from, bytes, filled);
}
// [lines]

// [weights]
/** Copies a tile's weights step by step: skips the stage for the tokens, then fills one for each consumer. */
template <typename Tile>
static __device__ void copy_weights(const moe_problem &problem, const work_tile &tile, const bf16 *weights, int length,
                                    pipeline_state<Tile::STAGES> &at, shared<Tile> &s)
{
    const int line = threadIdx.x % MMA_ROWS;
    const int64_t row = tile.first ? tile.expert * 2 * (int64_t)problem.intermediate_size + tile.first_output +
                                         line % 8 + line / 8 * problem.intermediate_size
                                   : tile.expert * (int64_t)problem.hidden_size + tile.first_output + line;
    const int64_t to_next = (tile.first ? MMA_ROWS / 2 : MMA_ROWS) *
                            (int64_t)length; /* offset of the next consumer's rows */
    const bf16 *const from = weights + row * length;

    for (int k = 0; k < length; k += K_STEP) {
        at.next();
        for (int consumer = 0; consumer < Tile::CONSUMERS; consumer++, at.next()) {
            mbarrier_wait(&s.emptied[at.index], at.parity ^ 1);
            copy_rows(from + consumer * to_next + k, length - k, MMA_ROWS, s.ring[at.index], &s.filled[at.index]);
        }
    }
}
// [weights]

// [take]
/** Takes tiles until none is left, publishes them within the block, and copies their weights. Called by one warp. */
template <typename Tile>
static __device__ void copy_all_weights(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                        shared<Tile> &s)
{
    const int lane = threadIdx.x % WARP_SIZE, num_blocks = *buffers.num_tokens_post_padded / problem.block_size;
    const int num_tiles = num_blocks * (tiles_of<Tile, true>(problem) + tiles_of<Tile, false>(problem));
    pipeline_state<Tile::STAGES> at;
    pipeline_state<2> tile_state;

    for (int item = blockIdx.x, next = 0;; item = next, tile_state.next()) {
        work_tile tile = {-1, 0, 0, 0, false};

        mbarrier_wait(&s.tile_released[tile_state.index], tile_state.parity ^ 1);
        if (item < num_tiles) {
            if (lane == 0)
                next = gridDim.x + atomicAdd(&counters->next, 1);
            next = __shfl_sync(FULL_MASK, next, 0);
            tile = find_tile<Tile>(problem, buffers.expert_ids, num_blocks, item);
        }
        if (lane == 0) {
            s.work_tiles[tile_state.index] = tile;
            mbarrier_arrive(&s.tile_ready[tile_state.index]);
        }
        if (tile.count < 0)
            return;
        if (tile.expert >= 0)
            copy_weights<Tile>(problem, tile, (const bf16 *)(tile.first ? buffers.w13 : buffers.w2),
                               tile.first ? problem.hidden_size : problem.intermediate_size, at, s);
        __syncwarp();
    }
}
// [take]

// [order]
/** Adds the positions and their number to a published order, and publishes both. Called by one warp. */
template <typename Tile>
static __device__ void publish_positions(const moe_problem &problem, const moe_buffers &buffers,
                                         pipeline_state<2> tile_state, shared<Tile> &s)
{
    work_tile &tile = s.work_tiles[tile_state.index];

    mbarrier_wait(&s.tile_ready[tile_state.index], tile_state.parity);
    if (tile.count >= 0) {
        const int count = find_positions<Tile>(problem, buffers, tile.block, s.positions[tile_state.index]);

        __syncwarp(); /* all lanes have read the values that lane 0 now overwrites */
        if (threadIdx.x % WARP_SIZE == 0)
            tile.count = count;
    }
    mbarrier_arrive(&s.positions_ready[tile_state.index]);
}
// [order]

// [tokens]
/** Copies the lines of a tile's tokens, step by step, into the stage before those of the weights. */
template <typename Tile>
static __device__ void copy_tokens(const bf16 *from, int length, int lines, pipeline_state<Tile::STAGES> &at,
                                   shared<Tile> &s)
{
    for (int k = 0; k < length; k += K_STEP) {
        mbarrier_wait(&s.emptied[at.index], at.parity ^ 1);
        copy_rows(from + k, length - k, lines, s.ring[at.index], &s.filled[at.index]);
        for (int i = 0; i < 1 + Tile::CONSUMERS; i++)
            at.next();
    }
}
// [tokens]

// [all_tokens]
/** Copies the tokens of each tile of this block, until none is left. Called by one warp. */
template <typename Tile>
static __device__ void copy_all_tokens(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                       shared<Tile> &s)
{
    const int line = threadIdx.x % WARP_SIZE, needed = tiles_of<Tile, true>(problem) * Tile::CONSUMER_WARPS;
    pipeline_state<Tile::STAGES> at;
    pipeline_state<2> tile_state;

    for (;; tile_state.next()) {
        publish_positions<Tile>(problem, buffers, tile_state, s);
        mbarrier_wait(&s.positions_ready[tile_state.index], tile_state.parity);
        const work_tile tile = s.work_tiles[tile_state.index];

        if (tile.count < 0)
            return;
        const int length = tile.first ? problem.hidden_size : problem.intermediate_size;
        const bool ready = tile.first || tile.expert < 0 || wait_for(counters, &counters->ready[tile.block], needed);
        const int position = line < tile.count ? s.positions[tile_state.index][line] : 0;
        const bf16 *from = (const bf16 *)(tile.first ? buffers.hidden : buffers.intermediate) +
                           (int64_t)(tile.first ? position / problem.topk : position) * length;

        if (!tile.first)
            async_proxy_fence(); /* makes the threads' stores visible to bulk copies */
        if (!ready)
            from = (const bf16 *)buffers.w2; /* any address will do, because the output becomes NaN */
        mbarrier_arrive(&s.tile_released[tile_state.index]);
        if (tile.expert >= 0)
            copy_tokens<Tile>(from, length, tile.count, at, s);
    }
}
// [all_tokens]

#endif
