/**
 * @file moe.cu
 * @brief Chapter 16a: the layer in one launch, fed by bulk copies.
 *
 * Before: two products and a sum, one launch each; all warps copy, then multiply what they have copied.
 * Now:    one launch. A block takes tiles from one list until none is left: two of its warps copy, up to 2 KiB per
 *         instruction, and four multiply. Tiles of the second product wait for the tiles of the first that they need.
 * Watch:  launches 1; one block barrier per block; bulk copies, which load every weight.
 */
#include "copies.cuh"
#include "products.cuh"

#include <limits.h>

// [sum]
/** Adds up the results of a token's experts, 8 elements per thread. Writes NaN if `good` is false. */
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
        unsigned *const to = (unsigned *)((bf16 *)buffers.output + i * CHUNK);
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
            to[e / 2] = good ? pack(sums[e], sums[e + 1]) : 0xffffffffu;
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
    layer_kernel(moe_problem problem, moe_buffers buffers, counters *counters)
{
    extern __shared__ __align__(1024) unsigned char bytes[]; /* bulk copies need 16; chapter 16b's kernel needs 1,024 */
    block_shared<Tile> &shared = *(block_shared<Tile> *)bytes;

    if (threadIdx.x == 0) {
        for (int i = 0; i < Tile::STAGES; i++) {
            mbarrier_init(&shared.filled[i], 1); /* the lane that announces a stage's byte count */
            mbarrier_init(&shared.emptied[i], Tile::CONSUMER_WARPS);
        }
        for (int i = 0; i < 2; i++) {
            mbarrier_init(&shared.tile_ready[i], 1);
            mbarrier_init(&shared.positions_ready[i], WARP_SIZE); /* the threads that write the positions */
            mbarrier_init(&shared.tile_released[i], (Tile::WARPS - 1) * WARP_SIZE); /* the work tile's readers */
        }
        mbarrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x / WARP_SIZE >= Tile::CONSUMER_WARPS) {
        if (threadIdx.x / WARP_SIZE == Tile::CONSUMER_WARPS)
            run_weight_producer<Tile>(problem, buffers, counters, shared);
        else
            run_token_producer<Tile>(problem, buffers, counters, shared);
        leave<Tile>(problem, buffers, counters);
    } else {
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

/** Sets *blocks to one per multiprocessor, or to 0 on a GPU whose blocks have too little shared memory. */
template <typename Tile>
static cudaError_t resident_blocks(int *blocks)
{
    const int bytes = (int)sizeof(block_shared<Tile>);
    int device, multiprocessors, max_shared_bytes, blocks_per_multiprocessor = 0;
    cudaError_t status = cudaGetDevice(&device);

    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&max_shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (status == cudaSuccess && bytes <= max_shared_bytes) {
        status = cudaFuncSetAttribute(layer_kernel<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (status == cudaSuccess)
            status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, layer_kernel<Tile>,
                                                                   Tile::THREADS, bytes);
    }
    *blocks = status == cudaSuccess ? multiprocessors * blocks_per_multiprocessor : 0;
    return status;
}

template <typename Tile>
static cudaError_t launch(moe_problem problem, moe_buffers buffers, cudaStream_t stream)
{
    void *arguments[] = {&problem, &buffers, &buffers.workspace};
    int blocks;
    cudaError_t status = resident_blocks<Tile>(&blocks);

    if (status == cudaSuccess && blocks == 0)
        return moe_launch_any_shape(&problem, &buffers, stream);
    if (status != cudaSuccess)
        return status;
    return cudaLaunchCooperativeKernel((const void *)layer_kernel<Tile>, blocks, Tile::THREADS, arguments,
                                       sizeof(block_shared<Tile>), stream);
}

/**
 * Returns whether this file has a kernel for the problem: rows must fill complete tiles, and their number must fit in
 * an int.
 */
static bool has_kernel(const moe_problem *problem)
{
    const int64_t h = problem->hidden_size, i = problem->intermediate_size, longer = h > i ? h : i;

    return problem->dtype == DTYPE_BF16 && h % few_tokens::WEIGHT_ROWS == 0 && i % few_tokens::WEIGHT_ROWS == 0 &&
           problem->block_size == few_tokens::TOKENS && problem->num_local_experts * 2 * longer <= INT_MAX;
}

cudaError_t moe_launch(const moe_problem *problem, const moe_buffers *buffers, cudaStream_t stream)
{
    if (!has_kernel(problem))
        return moe_launch_any_shape(problem, buffers, stream);
    return launch<few_tokens>(*problem, *buffers, stream);
}
// [launch]
