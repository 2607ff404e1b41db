/**
 * @file moe.cu
 * @brief Chapter 16b: the layer in one launch, with its matrix products computed by warpgroups.
 *
 * Before: a warp loads fragments from a stage and multiplies 16 rows by 16 tokens.
 * Now:    four warps jointly multiply 64 rows by up to 192 tokens, directly from shared memory. In a block, one warp
 *         copies weights with tensor maps, three copy tokens, and four or eight multiply.
 * Watch:  bulk copies, each of 8 KiB; no loads of fragments; tensor-core operations in proportion to the number of
 *         tokens in a tile, not to its capacity.
 */
#include "copies.cuh"
#include "kernels/overlap.cuh"
#include "products.cuh"

#include <limits.h>

// [sum]
/**
 * Adds up the results of a token's experts, 8 elements per thread, in the order in which store() wrote them. Writes NaN
 * if `good` is false.
 */
template <typename Tile>
static __device__ void sum(const moe_problem &problem, const moe_buffers &buffers, bool good)
{
    const int chunks = problem.hidden_size / CHUNK, topk = good ? problem.topk : 0;
    const int64_t num_chunks = problem.num_tokens * chunks;

    for (int64_t i = (int64_t)blockIdx.x * Tile::CONSUMER_WARPS * WARP_SIZE + threadIdx.x; i < num_chunks;
         i += (int64_t)gridDim.x * Tile::CONSUMER_WARPS * WARP_SIZE) {
        const int64_t token = i / chunks;
        const int chunk = (int)(i - token * chunks);
        const int4 *const partial = (const int4 *)buffers.partial + token * problem.topk * chunks + chunk;
        unsigned *const to = (unsigned *)((bf16 *)buffers.output + token * problem.hidden_size + chunk / 16 * 128 +
                                          chunk % 16 / 4 * 16 + chunk % 4 * 2);
        float sums[CHUNK] = {};

#pragma unroll 8
        for (int k = 0; k < topk; k++) {
            const int4 word = __ldcg(&partial[(int64_t)k * chunks]);
            const float weight = buffers.topk_weights[token * problem.topk + k];

#pragma unroll
            for (int e = 0; e < CHUNK; e++)
                sums[e] += weight * unpack(word, (const bf16 *)NULL, e);
        }
#pragma unroll
        for (int e = 0; e < CHUNK; e += 2)
            to[e / 4 * 32 + e / 2 % 2 * 4] = good ? pack(sums[e], sums[e + 1]) : 0xffffffffu;
    }
}
// [sum]

// [leave]
/** Counts this warp as finished; the last warp of the launch resets the counters to zero. */
template <typename Tile>
static __device__ void leave(const moe_problem &problem, const moe_buffers &buffers, counters *counters)
{
    const int lane = threadIdx.x % WARP_SIZE, num_blocks = *buffers.num_tokens_post_padded / problem.block_size;
    int before = 0;

    __syncwarp();
    if (lane == 0)
        before = add_acquire_release(&counters->exited_warps, 1);
    if (__shfl_sync(FULL_MASK, before, 0) < (int)gridDim.x * Tile::WARPS - 1)
        return;
    __syncwarp();
    for (int i = lane; i < num_blocks; i += WARP_SIZE)
        counters->gate_up_stores[i] = 0;
    if (lane == 0) {
        counters->next = 0;
        counters->down_stores = 0;
        counters->failed = 0;
        counters->exited_warps = 0;
    }
}
// [leave]

// [kernel]
/** Computes the layer. Grid: the number of co-resident blocks. */
template <typename Tile>
static __global__ void __launch_bounds__(Tile::THREADS, 1)
    layer_kernel(moe_problem problem, moe_buffers buffers, counters *counters, const __grid_constant__ tensor_map w13,
                 const __grid_constant__ tensor_map w2)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    block_shared<Tile> &shared = *(block_shared<Tile> *)bytes;

    if (threadIdx.x == 0) {
        for (int i = 0; i < Tile::STAGES; i++) {
            mbarrier_init(&shared.filled[i], TOKEN_COPY_THREADS + 1); /* 1: the lane that announces the weights */
            mbarrier_init(&shared.emptied[i], Tile::CONSUMER_WARPS);
        }
        for (int i = 0; i < 2; i++) {
            mbarrier_init(&shared.tile_ready[i], 1);
            mbarrier_init(&shared.positions_ready[i], WARP_SIZE); /* the threads that write the positions */
            mbarrier_init(&shared.tile_released[i], (Tile::WARPS - 1) * WARP_SIZE); /* the work tile's readers */
        }
        mbarrier_init_fence();
    }
    wait_for_previous_kernel(); /* returns at once unless launches overlap (chapter 17) */
    __syncthreads();
    if (threadIdx.x / WARPGROUP == Tile::CONSUMERS) {
        if constexpr (Tile::MOVES_REGISTERS)
            registers_decrease<56>();
        if (threadIdx.x / WARP_SIZE == Tile::CONSUMER_WARPS)
            run_weight_producer<Tile>(problem, buffers, counters, &w13, &w2, shared);
        else
            run_token_producer<Tile>(problem, buffers, counters, shared);
        leave<Tile>(problem, buffers, counters);
    } else {
        if constexpr (Tile::MOVES_REGISTERS)
            registers_increase<224>();
        run_consumer<Tile>(problem, buffers, counters, shared);
        const int num_blocks = *buffers.num_tokens_post_padded / problem.block_size;
        const int all = num_blocks * tiles_per_token_block<Tile, false>(problem) * Tile::CONSUMER_WARPS;
        const bool good = wait_for_count(counters, &counters->down_stores, all) &&
                          *(volatile int *)&counters->failed == 0;

        sum<Tile>(problem, buffers, good);
        leave<Tile>(problem, buffers, counters);
    }
}
// [kernel]

// [launch]
/** Launches chapter 11b's layer, the fallback for problems without a kernel in this chapter. */
extern "C" cudaError_t moe_launch_any_shape(const moe_problem *problem, const moe_buffers *buffers,
                                            cudaStream_t stream);

/** Sets *blocks to the number of co-resident blocks: one per multiprocessor. */
template <typename Tile>
static cudaError_t resident_blocks(int *blocks)
{
    int device, multiprocessors, blocks_per_multiprocessor;
    cudaError_t status = cudaFuncSetAttribute(layer_kernel<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              (int)sizeof(block_shared<Tile>));

    if (status == cudaSuccess)
        status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, layer_kernel<Tile>,
                                                               Tile::THREADS, sizeof(block_shared<Tile>));
    *blocks = status == cudaSuccess ? multiprocessors * blocks_per_multiprocessor : 0;
    return status;
}

template <typename Tile>
static cudaError_t launch(moe_problem problem, moe_buffers buffers, cudaStream_t stream)
{
    const int64_t h = problem.hidden_size, i = problem.intermediate_size, experts = problem.num_local_experts;
    tensor_map w13, w2;
    int blocks;
    cudaError_t status = resident_blocks<Tile>(&blocks);

    if (status == cudaSuccess && blocks == 0)
        return moe_launch_any_shape(&problem, &buffers, stream);
    // [tensor_maps]
    if (status == cudaSuccess &&
        (tensor_map_bf16(&w13, buffers.w13, (uint64_t)(experts * 2 * i), (uint64_t)h, MMA_ROWS, K_STEP, SWIZZLE) ||
         tensor_map_bf16(&w2, buffers.w2, (uint64_t)(experts * h), (uint64_t)i, MMA_ROWS, K_STEP, SWIZZLE)))
        status = cudaErrorInvalidValue;
    // [tensor_maps]
    if (status != cudaSuccess)
        return status;
    return launch_cooperative(problem.overlap, layer_kernel<Tile>, blocks, Tile::THREADS, sizeof(block_shared<Tile>),
                              stream, problem, buffers, (struct counters *)buffers.workspace, w13, w2);
}

/**
 * Returns whether this file has a kernel for the problem: boxes of 64 rows must be full or empty, and counts must fit
 * in an int.
 */
static bool has_kernel(const moe_problem *problem)
{
    const int64_t h = problem->hidden_size, i = problem->intermediate_size, longer = h > i ? h : i;

    return problem->dtype == DTYPE_BF16 && h % (2 * MMA_ROWS) == 0 && i % MMA_ROWS == 0 &&
           problem->block_size <= many_tokens::TOKENS && problem->num_local_experts * 2 * longer <= INT_MAX &&
           problem->num_tokens * problem->topk * (longer / CHUNK) < NO_ROW;
}

cudaError_t moe_launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    if (!has_kernel(problem))
        return moe_launch_any_shape(problem, buffers, stream);
    return problem->block_size <= few_tokens::TOKENS ? launch<few_tokens>(*problem, *buffers, stream)
                                                     : launch<many_tokens>(*problem, *buffers, stream);
}
// [launch]
