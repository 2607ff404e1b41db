/** @file chapters/16a_layer_bulk_copies/copies.cuh  The copying warps: one for weights, one for the rows of tokens. */
#ifndef MOE_COPIES_CUH
#define MOE_COPIES_CUH

#include "tiles.cuh"

// [fill_stage_rows]
/** Fills `num_rows` rows of a stage: lane i copies up to K_STEP of the `remaining` elements at its `from` to row i. */
static __device__ void fill_stage_rows(const bf16 *from, int remaining, int num_rows, bf16 (*stage)[ROW_PITCH],
                                       mbarrier *filled)
{
    const int lane = threadIdx.x % WARP_SIZE, bytes = (remaining < K_STEP ? remaining : K_STEP) * (int)sizeof(bf16);

    if (lane == 0)
        mbarrier_arrive_expect(filled, num_rows * bytes);
    __syncwarp(); /* so that the byte count is announced before the copies start */
    if (lane < num_rows)
        bulk_copy(stage[lane], from, bytes, filled);
}
// [fill_stage_rows]

// [weights]
/** Copies a tile's weights step by step: skips the stage for the tokens, then fills one for each consumer. */
template <typename Tile>
static __device__ void copy_tile_weights(const moe_problem &problem, const work_tile &tile, const bf16 *weights,
                                         int length, pipeline_state<Tile::STAGES> &ring_state,
                                         block_shared<Tile> &shared)
{
    const int stage_row = threadIdx.x % MMA_ROWS;
    const int64_t row = tile.gate_up ? tile.expert * 2 * (int64_t)problem.intermediate_size + tile.first_output +
                                           stage_row % 8 + stage_row / 8 * problem.intermediate_size
                                     : tile.expert * (int64_t)problem.hidden_size + tile.first_output + stage_row;
    const int64_t to_next_consumer = (tile.gate_up ? MMA_ROWS / 2 : MMA_ROWS) * (int64_t)length;
    const bf16 *const from = weights + row * length;

    // [weight_stages]
    for (int k = 0; k < length; k += K_STEP) {
        ring_state.next();
        for (int consumer = 0; consumer < Tile::CONSUMERS; consumer++, ring_state.next()) {
            mbarrier_wait(&shared.emptied[ring_state.index], ring_state.parity ^ 1);
            fill_stage_rows(from + consumer * to_next_consumer + k, length - k, MMA_ROWS, shared.ring[ring_state.index],
                            &shared.filled[ring_state.index]);
        }
    }
    // [weight_stages]
}
// [weights]

// [take]
/** Takes tiles until none is left, publishes them within the block, and copies their weights. Called by one warp. */
template <typename Tile>
static __device__ void run_weight_producer(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                           block_shared<Tile> &shared)
{
    const int lane = threadIdx.x % WARP_SIZE, num_blocks = *buffers.num_tokens_post_padded / problem.block_size;
    const int num_tiles = num_blocks *
                          (tiles_per_token_block<Tile, true>(problem) + tiles_per_token_block<Tile, false>(problem));
    pipeline_state<Tile::STAGES> ring_state;
    pipeline_state<2> tile_state;

    for (int item = blockIdx.x, next = 0;; item = next, tile_state.next()) {
        work_tile tile = {-1, 0, 0, 0, false};

        mbarrier_wait(&shared.tile_released[tile_state.index], tile_state.parity ^ 1);
        if (item < num_tiles) {
            if (lane == 0)
                next = gridDim.x + atomicAdd(&counters->next, 1);
            next = __shfl_sync(FULL_MASK, next, 0);
            tile = find_tile<Tile>(problem, buffers.expert_ids, num_blocks, item);
        }
        if (lane == 0) {
            shared.work_tiles[tile_state.index] = tile;
            mbarrier_arrive(&shared.tile_ready[tile_state.index]);
        }
        if (tile.count < 0)
            return;
        if (tile.expert >= 0)
            copy_tile_weights<Tile>(problem, tile, (const bf16 *)(tile.gate_up ? buffers.w13 : buffers.w2),
                                    tile.gate_up ? problem.hidden_size : problem.intermediate_size, ring_state, shared);
        __syncwarp();
    }
}
// [take]

// [publish_positions]
/** Loads the positions of a published work tile and publishes them with their number. Called by one warp. */
template <typename Tile>
static __device__ void publish_positions(const moe_problem &problem, const moe_buffers &buffers,
                                         pipeline_state<2> tile_state, block_shared<Tile> &shared)
{
    work_tile &tile = shared.work_tiles[tile_state.index];

    mbarrier_wait(&shared.tile_ready[tile_state.index], tile_state.parity);
    if (tile.count >= 0) {
        const int count = read_positions<Tile>(problem, buffers, tile.block, shared.positions[tile_state.index]);

        __syncwarp(); /* all lanes have read the values that lane 0 now overwrites */
        if (threadIdx.x % WARP_SIZE == 0)
            tile.count = count;
    }
    mbarrier_arrive(&shared.positions_ready[tile_state.index]);
}
// [publish_positions]

// [tokens]
/** Copies the rows of a tile's tokens, step by step, into the stage before those of the weights. */
template <typename Tile>
static __device__ void copy_tile_tokens(const bf16 *from, int length, int num_rows,
                                        pipeline_state<Tile::STAGES> &ring_state, block_shared<Tile> &shared)
{
    for (int k = 0; k < length; k += K_STEP) {
        mbarrier_wait(&shared.emptied[ring_state.index], ring_state.parity ^ 1);
        fill_stage_rows(from + k, length - k, num_rows, shared.ring[ring_state.index],
                        &shared.filled[ring_state.index]);
        for (int i = 0; i < 1 + Tile::CONSUMERS; i++)
            ring_state.next();
    }
}
// [tokens]

// [all_tokens]
/** Copies the tokens of each tile of this block, until none is left. Called by one warp. */
template <typename Tile>
static __device__ void run_token_producer(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                          block_shared<Tile> &shared)
{
    const int stage_row = threadIdx.x % WARP_SIZE,
              needed = tiles_per_token_block<Tile, true>(problem) * Tile::CONSUMER_WARPS;
    pipeline_state<Tile::STAGES> ring_state;
    pipeline_state<2> tile_state;

    // [token_tiles]
    for (;; tile_state.next()) {
        publish_positions<Tile>(problem, buffers, tile_state, shared);
        mbarrier_wait(&shared.positions_ready[tile_state.index], tile_state.parity);
        const work_tile tile = shared.work_tiles[tile_state.index];

        if (tile.count < 0)
            return;
        const int length = tile.gate_up ? problem.hidden_size : problem.intermediate_size;
        const bool ready = tile.gate_up || tile.expert < 0 ||
                           wait_for_count(counters, &counters->gate_up_stores[tile.block], needed);
        const int position = stage_row < tile.count ? shared.positions[tile_state.index][stage_row] : 0;
        const bf16 *from = (const bf16 *)(tile.gate_up ? buffers.hidden : buffers.intermediate) +
                           (int64_t)(tile.gate_up ? position / problem.topk : position) * length;

        if (!tile.gate_up)
            async_proxy_fence(); /* makes the threads' stores visible to bulk copies */
        if (!ready)
            from = (const bf16 *)buffers.w2; /* any address will do, because the output becomes NaN */
        mbarrier_arrive(&shared.tile_released[tile_state.index]);
        if (tile.expert >= 0)
            copy_tile_tokens<Tile>(from, length, tile.count, ring_state, shared);
    }
    // [token_tiles]
}
// [all_tokens]

#endif
