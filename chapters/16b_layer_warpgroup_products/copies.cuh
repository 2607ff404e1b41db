/** @file chapters/16b_layer_warpgroup_products/copies.cuh  The copying warps: one for weights, three for tokens. */
#ifndef MOE_COPIES_CUH
#define MOE_COPIES_CUH

#include "tiles.cuh"

// [weights]
/** Starts copying the weights of a step: two boxes of 64 rows for each consumer. */
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
// [weights]

// [take]
/** Takes tiles until none is left, publishes them within the block, and copies their weights. Called by one warp. */
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
        // [stages]
        if (tile.expert >= 0 && lane == 0)
            for (int k = 0; k < (tile.first ? problem.hidden_size : problem.intermediate_size); k += LINE, at.next()) {
                mbarrier_wait(&s.emptied[at.place], at.parity ^ 1);
                copy_weights<Tile>(problem, tile, tile.first ? w13 : w2, k, s.ring[at.place], &s.filled[at.place]);
            }
        // [stages]
        __syncwarp();
    }
}
// [take]

// [order]
/** Adds the positions and their number to a published order, and publishes both. Called by one warp. */
template <typename Tile>
static __device__ void complete_order(const moe_problem &problem, const moe_buffers &buffers, turn<2> slot,
                                      shared<Tile> &s)
{
    order &tile = s.orders[slot.place];

    mbarrier_wait(&s.taken[slot.place], slot.parity);
    if (tile.count >= 0) {
        const int count = find_positions<Tile>(problem, buffers, tile.block, s.positions[slot.place]);

        __syncwarp(); /* all lanes have read the values that lane 0 now overwrites */
        if (threadIdx.x % WARP_SIZE == 0)
            tile.count = count;
    }
    mbarrier_arrive(&s.ordered[slot.place]);
}
// [order]

// [tokens]
/**
 * Copies the lines of a tile's tokens step by step, 8 threads per line. `rows` holds the thread's rows as offsets in
 * chunks from row 0; NONE stands for a row of zeros.
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
// [tokens]

// [all_tokens]
/** Copies the tokens of each tile of this block, until none is left. Called by three warps. */
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
        mbarrier_arrive(&s.done[slot.place]);
        if (tile.expert >= 0)
            copy_tokens<Tile>((const bf16 *)(tile.first ? buffers.hidden : buffers.intermediate), length, rows,
                              (tile.count + TOKEN_STEP - 1) / TOKEN_STEP * TOKEN_STEP, at, s);
    }
}
// [all_tokens]

#endif
