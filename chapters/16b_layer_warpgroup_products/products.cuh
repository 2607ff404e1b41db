/** @file chapters/16b_layer_warpgroup_products/products.cuh  The consumer warpgroups, which multiply and store. */
#ifndef MOE_PRODUCTS_CUH
#define MOE_PRODUCTS_CUH

#include "kernels/transpose.cuh"
#include "kernels/warpgroup_product.cuh"
#include "tiles.cuh"

// [multiply]
/** Accumulates the products of a consumer's 2 x 64 rows and N tokens over `steps` stages. */
template <typename Tile, int N>
static __device__ __forceinline__ void multiply(float (&sums)[2][N / 2], int steps,
                                                pipeline_state<Tile::STAGES> &ring_state, block_shared<Tile> &shared)
{
    const int consumer = threadIdx.x / WARPGROUP, lane = threadIdx.x % WARP_SIZE;
    int previous_stage = 0;

    for (int step = 0; step < steps; step++, ring_state.next()) {
        mbarrier_wait(&shared.filled[ring_state.index], ring_state.parity);
        async_proxy_fence_shared(); /* makes the threads' copies visible to the tensor cores */
        wgmma_compiler_fence(sums[0]);
        wgmma_compiler_fence(sums[1]);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < K_STEP; k += MMA_K) {
            const bf16 *const weights = shared.ring[ring_state.index][consumer * 2 * MMA_ROWS] + k;
            const uint64_t tokens = wgmma_descriptor(shared.ring[ring_state.index][Tile::WEIGHT_ROWS] + k);

            wgmma_m64k16_bf16(sums[0], wgmma_descriptor(weights), tokens);
            wgmma_m64k16_bf16(sums[1], wgmma_descriptor(weights + MMA_ROWS * K_STEP), tokens);
        }
        wgmma_commit_group();
        wgmma_wait_group<1>(); /* the products of the previous step are complete */
        if (step > 0 && lane == 0)
            mbarrier_arrive(&shared.emptied[previous_stage]);
        previous_stage = ring_state.index;
    }
    wgmma_wait_group<0>();
    wgmma_compiler_fence(sums[0]);
    wgmma_compiler_fence(sums[1]);
    if (steps > 0 && lane == 0)
        mbarrier_arrive(&shared.emptied[previous_stage]);
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
template <typename Tile, int N>
static __device__ __forceinline__ void store(const moe_problem &problem, const moe_buffers &buffers,
                                             const work_tile &tile, const int *positions, const float (&sums)[2][N / 2])
{
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE % 4, consumer = threadIdx.x / WARPGROUP;
    const int output = tile.first_output + consumer * MMA_ROWS * (tile.gate_up ? 1 : 2);

    if (output >= (tile.gate_up ? problem.intermediate_size : problem.hidden_size))
        return; /* the whole warpgroup returns */
#pragma unroll
    for (int i = 0; i < N / 8; i++) {
        const float *const a = sums[0] + 4 * i, *const b = sums[1] + 4 * i;
        const int token = i * 8 + lane / 4;

        if (tile.gate_up) {
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
                           (warp * 4 + lane % 4) * CHUNK) = four;
        }
    }
}
// [store]

// [compute_tile]
/** Computes a tile with the narrowest product that can hold its tokens. */
template <typename Tile, int N>
static __device__ __forceinline__ void compute_tile(const moe_problem &problem, const moe_buffers &buffers,
                                                    const work_tile &tile, const int *positions,
                                                    pipeline_state<Tile::STAGES> &ring_state,
                                                    block_shared<Tile> &shared)
{
    if constexpr (N > TOKEN_STEP)
        if (tile.count <= N - TOKEN_STEP)
            return compute_tile<Tile, N - TOKEN_STEP>(problem, buffers, tile, positions, ring_state, shared);
    const int length = tile.gate_up ? problem.hidden_size : problem.intermediate_size;
    float sums[2][N / 2] = {};

    multiply<Tile, N>(sums, tile.expert >= 0 ? length / K_STEP : 0, ring_state, shared);
    store<Tile, N>(problem, buffers, tile, positions, sums);
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
        compute_tile<Tile, Tile::TOKENS>(problem, buffers, tile, shared.positions[tile_state.index], ring_state,
                                         shared);
        increment_once_per_warp(tile.gate_up ? &counters->gate_up_stores[tile.block] : &counters->down_stores);
        mbarrier_arrive(&shared.tile_released[tile_state.index]);
    }
}
// [consume]

#endif
