/**
 * @file exercise.cu
 * @brief 10_predict_the_fill: predicts the cost of a fill before running it.
 *
 * Block 0 counts while other blocks write pads. First predict the store requests, sectors, bytes and barriers of such a
 * launch. Then write the missing code, and compare. Write your code between // TODO and // END; leave the rest
 * unchanged.
 */
#include "exercise.h"

/* --- the forecast ------------------------------------------------------------------------------------------------- */

// TODO shown
// Predict four numbers for the launch with SHOWN_NUMEL = 800 ids and SHOWN_CAPACITY = 16,960 slots, in which two blocks
// write pads. struct fill_counters_forecast in exercise.h defines them.
static const int64_t store_requests = -1;
static const int64_t store_sectors = -1;
static const int64_t store_bytes = -1;
static const int64_t block_barriers = -1;
// END shown

struct fill_counters_forecast forecast_counters_of_shown_launch(void)
{
    return {store_requests, store_sectors, store_bytes, block_barriers};
}

struct fill_counters_forecast forecast_counters_for_capacity(int64_t capacity)
{
    struct fill_counters_forecast forecast = {-1, -1, -1, -1};

    // TODO formulas
    // Compute the same four numbers for any capacity that is a multiple of 4, with sorted_token_ids on a 32-byte
    // boundary: forecast.store_requests, forecast.store_sectors, forecast.store_bytes and forecast.block_barriers.
    // END formulas
    return forecast;
}

/* --- the kernel --------------------------------------------------------------------------------------------------- */

/** Writes a pad to every slot, 16 bytes per store. `thread` is the caller's index among the num_threads callers. */
static __device__ void fill(int *sorted_token_ids, int capacity, int pad, int thread, int num_threads)
{
    const int unaligned = (int)(-(uintptr_t)sorted_token_ids % sizeof(int4) / sizeof(int)); /* words before alignment */
    const int head = unaligned < capacity ? unaligned : capacity;
    const int chunks = (capacity - head) / 4, tail_begin = head + 4 * chunks;
    int4 *const aligned = (int4 *)(sorted_token_ids + head);
    const int4 pads = make_int4(pad, pad, pad, pad);

    // TODO fill
    // Store `pads` exactly once to each of aligned[0] .. aligned[chunks - 1]. Which elements must this thread write so
    // that the 32 lanes of a warp always write adjacent elements?
    (void)aligned, (void)pads;
    // END fill

    if (thread < head)
        sorted_token_ids[thread] = pad;
    if (thread < capacity - tail_begin)
        sorted_token_ids[tail_begin + thread] = pad;
}

/** Counts the ids and writes the pads. Grid: one block that counts, then blocks that write pads. */
static __global__ void __launch_bounds__(THREADS)
    count_and_fill_kernel(const int *topk_ids, int numel, int capacity, int *counts, int *sorted_token_ids)
{
    __shared__ int block_counts[NUM_EXPERTS];
    const int thread = threadIdx.x;

    if (blockIdx.x > 0) { /* the whole block returns, so no barrier below waits for its threads */
        fill(sorted_token_ids, capacity, numel, (blockIdx.x - 1) * THREADS + thread, (gridDim.x - 1) * THREADS);
        return;
    }
    if (thread < NUM_EXPERTS)
        block_counts[thread] = 0;
    __syncthreads();
    for (int i = thread; i < numel; i += THREADS)
        if (topk_ids[i] >= 0 && topk_ids[i] < NUM_EXPERTS)
            atomicAdd(&block_counts[topk_ids[i]], 1);
    __syncthreads();
    if (thread < NUM_EXPERTS)
        atomicAdd(&counts[thread], block_counts[thread]); /* not a store: only the fill's stores are counted */
}

cudaError_t count_and_fill_launch(const int32_t *topk_ids, int numel, int capacity, int32_t *counts,
                                  int32_t *sorted_token_ids)
{
    const int fill_blocks = (capacity + SLOTS_PER_FILL_BLOCK - 1) / SLOTS_PER_FILL_BLOCK;

    count_and_fill_kernel<<<1 + fill_blocks, THREADS>>>(topk_ids, numel, capacity, counts, sorted_token_ids);
    return cudaGetLastError();
}
