/** @file chapters/16a_layer_bulk_copies/products.cuh  The consumer warps, which multiply and store. */
#ifndef MOE_PRODUCTS_CUH
#define MOE_PRODUCTS_CUH

#include "kernels/tensor_core.cuh"
#include "kernels/transpose.cuh"
#include "tiles.cuh"

// [multiply_stage]
/**
 * Multiplies `length` elements of 16 rows by those of `count` tokens, at most 16. Lanes for missing tokens load the
 * last token.
 */
static __device__ __forceinline__ void multiply_stage(float (&sums)[2][4], const bf16 (*weights)[ROW_PITCH],
                                                      const bf16 (*tokens)[ROW_PITCH], int length, int count)
{
    const int lane = threadIdx.x % WARP_SIZE, token = lane / 16 * MMA_TOKENS + lane % 8;
    const bf16 *const row = weights[lane % 16] + lane / 16 * CHUNK;
    const bf16 *const column = tokens[token < count ? token : count - 1] + lane / 8 % 2 * CHUNK;

#pragma unroll 4
    for (int k = 0; k < length; k += MMA_K) {
        uint32_t a[4], b[4];

        ldmatrix_x4(a, row + k);
        ldmatrix_x4(b, column + k);
        mma_m16n8k16_bf16(sums[0], a, b);
        mma_m16n8k16_bf16(sums[1], a, b + 2);
    }
}
// [multiply_stage]

// [multiply]
/**
 * Accumulates the products of a consumer's 16 rows and 16 tokens; waits for all stages, but multiplies only its own.
 */
template <typename Tile>
static __device__ __forceinline__ void multiply(float (&sums)[2][4], int length, int count,
                                                pipeline_state<Tile::STAGES> &ring_state, block_shared<Tile> &shared)
{
    const int consumer = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;

    for (int k = 0; k < length; k += K_STEP) {
        const int token_stage = ring_state.index;

        mbarrier_wait(&shared.filled[ring_state.index], ring_state.parity);
        ring_state.next();
        for (int i = 0; i < Tile::CONSUMERS; i++, ring_state.next()) {
            mbarrier_wait(&shared.filled[ring_state.index], ring_state.parity);
            if (i == consumer)
                multiply_stage(sums, shared.ring[ring_state.index], shared.ring[token_stage],
                               length - k < K_STEP ? length - k : K_STEP, count);
            __syncwarp(); /* all lanes have loaded their fragments of the stage */
            if (lane == 0)
                mbarrier_arrive(&shared.emptied[ring_state.index]);
        }
        if (lane == 0)
            mbarrier_arrive(&shared.emptied[token_stage]);
    }
}
// [multiply]

// [results]
/** Returns x * sigmoid(x), with fast division and exp: their errors are far smaller than bf16's rounding error. */
static __device__ float silu(float x)
{
    return __fdividef(x, 1.0f + __expf(-x));
}

/** Packs two values as bf16 into one word, `low` in the lower half. */
static __device__ unsigned pack(float low, float high)
{
    const unsigned upper = __bfloat16_as_ushort(__float2bfloat16_rn(high));

    return upper << 16 | __bfloat16_as_ushort(__float2bfloat16_rn(low));
}
// [results]

// [store]
/**
 * Stores a warp's results. With g = lane / 4 and t = lane % 4, a thread holds rows g and g + 8 of tokens 2t and 2t + 1
 * of every 8 tokens; after the transpose it holds rows 2t, 2t + 1, 2t + 8 and 2t + 9 of token g.
 */
template <typename Tile>
static __device__ __forceinline__ void store(const moe_problem &problem, const moe_buffers &buffers,
                                             const work_tile &tile, const int *positions, const float (&sums)[2][4])
{
    const int lane = threadIdx.x % WARP_SIZE, consumer = threadIdx.x / WARP_SIZE;
    const int output = tile.first_output + consumer * MMA_ROWS / (tile.gate_up ? 2 : 1) + lane % 4 * 2;

#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float *const a = sums[i];
        const int token = i * 8 + lane / 4;

        if (tile.gate_up) {
            const unsigned both = transpose_8x8(pack(silu(a[0]) * a[2], silu(a[1]) * a[3]));

            if (token < tile.count)
                *(unsigned *)((bf16 *)buffers.intermediate + (int64_t)positions[token] * problem.intermediate_size +
                              output) = both;
        } else {
            const unsigned low = transpose_8x8(pack(a[0], a[1])), high = transpose_8x8(pack(a[2], a[3]));

            if (token < tile.count) {
                unsigned *const to = (unsigned *)((bf16 *)buffers.partial +
                                                  (int64_t)positions[token] * problem.hidden_size + output);
                to[0] = low;
                to[4] = high;
            }
        }
    }
}
// [store]

// [compute_tile]
/** Computes and stores a tile. */
template <typename Tile>
static __device__ __forceinline__ void compute_tile(const moe_problem &problem, const moe_buffers &buffers,
                                                    const work_tile &tile, const int *positions,
                                                    pipeline_state<Tile::STAGES> &ring_state,
                                                    block_shared<Tile> &shared)
{
    const int length = tile.gate_up ? problem.hidden_size : problem.intermediate_size;
    float sums[2][4] = {};

    multiply<Tile>(sums, tile.expert >= 0 ? length : 0, tile.count, ring_state, shared);
    store<Tile>(problem, buffers, tile, positions, sums);
}
// [compute_tile]

// [consume]
/** Computes the block's tiles in the order in which they are published, until none is left. */
template <typename Tile>
static __device__ void run_consumer(const moe_problem &problem, const moe_buffers &buffers, counters *counters,
                                    block_shared<Tile> &shared)
{
    pipeline_state<Tile::STAGES> ring_state;
    pipeline_state<2> tile_state;

    for (;; tile_state.next()) {
        mbarrier_wait(&shared.positions_ready[tile_state.index], tile_state.parity);
        const work_tile tile = shared.work_tiles[tile_state.index];

        if (tile.count < 0)
            return;
        compute_tile<Tile>(problem, buffers, tile, shared.positions[tile_state.index], ring_state, shared);
        increment_once_per_warp(tile.gate_up ? &counters->gate_up_stores[tile.block] : &counters->down_stores);
        mbarrier_arrive(&shared.tile_released[tile_state.index]);
    }
}
// [consume]

#endif
