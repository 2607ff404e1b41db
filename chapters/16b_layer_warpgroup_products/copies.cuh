/** @file chapters/16b_layer_warpgroup_products/copies.cuh  The copying warps: one for weights, three for tokens. */
#ifndef MOE_COPIES_CUH
#define MOE_COPIES_CUH

#include "tiles.cuh"

// [weights]
/** Starts copying the weights of a step: two boxes of 64 rows for each consumer. */
template <typename Tile>
static __device__ void copy_step_weights(const moe_problem &problem, const work_tile &tile, const tensor_map *weights,
                                         int k, bf16 (*stage)[K_STEP], mbarrier *filled)
{
    mbarrier_arrive_expect(filled, Tile::WEIGHT_ROWS * K_STEP * sizeof(bf16));
#pragma unroll
    for (int box = 0; box < 2 * Tile::CONSUMERS; box++) {
        const int row = tile.gate_up ? tile.expert * 2 * problem.intermediate_size + tile.first_output +
                                           box / 2 * MMA_ROWS + box % 2 * problem.intermediate_size
                                     : tile.expert * problem.hidden_size + tile.first_output + box * MMA_ROWS;

        bulk_copy_tile(stage[box * MMA_ROWS], weights, row, k, filled);
    }
}
// [weights]

// [take]
/** Takes tiles until none is left, publishes them within the block, and copies their weights. Called by one warp. */
template <typename Tile>
static __device__ void run_weight_producer(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                           const tensor_map *w13, const tensor_map *w2, block_shared<Tile> &shared)
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
        // [stages]
        if (tile.expert >= 0 && lane == 0)
            for (int k = 0; k < (tile.gate_up ? problem.hidden_size : problem.intermediate_size);
                 k += K_STEP, ring_state.next()) {
                mbarrier_wait(&shared.emptied[ring_state.index], ring_state.parity ^ 1);
                copy_step_weights<Tile>(problem, tile, tile.gate_up ? w13 : w2, k, shared.ring[ring_state.index],
                                        &shared.filled[ring_state.index]);
            }
        // [stages]
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
/**
 * Copies the rows of a tile's tokens step by step, 8 threads per row. `rows` holds the thread's rows of the matrix as
 * offsets in chunks from row 0; NO_ROW stands for a row of zeros.
 */
template <typename Tile>
static __device__ __forceinline__ void copy_tile_tokens(const bf16 *tokens, int length,
                                                        const unsigned (&rows)[Tile::TOKEN_COPIES], int num_rows,
                                                        pipeline_state<Tile::STAGES> &ring_state,
                                                        block_shared<Tile> &shared)
{
    const int thread = threadIdx.x % WARPGROUP - WARP_SIZE, chunk = thread % CHUNKS_PER_ROW;
    const int4 *from = (const int4 *)tokens + chunk;

#pragma unroll 1
    for (int k = 0; k < length; k += K_STEP, from += CHUNKS_PER_ROW, ring_state.next()) {
        bf16(*const stage)[K_STEP] = shared.ring[ring_state.index] + Tile::WEIGHT_ROWS;

        mbarrier_wait(&shared.emptied[ring_state.index], ring_state.parity ^ 1);
#pragma unroll
        for (int i = 0; i < Tile::TOKEN_COPIES; i++) {
            const int stage_row = thread / CHUNKS_PER_ROW + i * ROWS_PER_PASS;

            if (stage_row < num_rows)
                cp_async_16(stage[stage_row] + (chunk ^ stage_row % SWIZZLE_CHUNKS) * CHUNK,
                            from + (rows[i] == NO_ROW ? 0 : rows[i]), rows[i] == NO_ROW ? 0 : 16);
        }
        mbarrier_arrive_cp_async(&shared.filled[ring_state.index]);
    }
}
// [tokens]

// [all_tokens]
/** Copies the tokens of each tile of this block, until none is left. Called by three warps. */
template <typename Tile>
static __device__ void run_token_producer(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                          block_shared<Tile> &shared)
{
    const int thread = threadIdx.x % WARPGROUP - WARP_SIZE,
              needed = tiles_per_token_block<Tile, true>(problem) * Tile::CONSUMER_WARPS;
    pipeline_state<Tile::STAGES> ring_state;
    pipeline_state<2> tile_state;

    for (;; tile_state.next()) {
        unsigned rows[Tile::TOKEN_COPIES];

        if (thread < WARP_SIZE)
            publish_positions<Tile>(problem, buffers, tile_state, shared);
        mbarrier_wait(&shared.positions_ready[tile_state.index], tile_state.parity);
        const work_tile tile = shared.work_tiles[tile_state.index];

        if (tile.count < 0)
            return;
        const int length = tile.gate_up ? problem.hidden_size : problem.intermediate_size;
        const bool ready = tile.gate_up || tile.expert < 0 ||
                           wait_for_count(counters, &counters->gate_up_stores[tile.block], needed);

#pragma unroll
        for (int i = 0; i < Tile::TOKEN_COPIES; i++) {
            const int stage_row = thread / CHUNKS_PER_ROW + i * ROWS_PER_PASS;
            const unsigned position = stage_row < tile.count ? shared.positions[tile_state.index][stage_row] : 0;

            rows[i] = !ready || stage_row >= tile.count
                          ? NO_ROW
                          : (tile.gate_up ? position / problem.topk : position) * (length / CHUNK);
        }
        mbarrier_arrive(&shared.tile_released[tile_state.index]);
        if (tile.expert >= 0)
            copy_tile_tokens<Tile>((const bf16 *)(tile.gate_up ? buffers.hidden : buffers.intermediate), length, rows,
                                   (tile.count + TOKEN_STEP - 1) / TOKEN_STEP * TOKEN_STEP, ring_state, shared);
    }
}
// [all_tokens]

#endif
