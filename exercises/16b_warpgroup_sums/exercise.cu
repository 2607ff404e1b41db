/**
 * @file exercise.cu
 * @brief 16b_warpgroup_sums: how a product's sums are distributed over a warpgroup.
 *
 * Write your code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"
#include "kernels/bulk_copy.cuh"
#include "kernels/warpgroup_product.cuh"

#include <cuda_pipeline.h>

enum { WARP_SIZE = 32, WARPGROUP = 4 * WARP_SIZE, MMA_K = 16 };
enum { CHUNK = 8, CHUNKS_PER_ROW = ROW_LENGTH / CHUNK }; /* a chunk has 8 elements, 16 bytes; a row has 8 chunks */

/** Multiplies rows by tokens. Grid: one block, which is a warpgroup. */
static __global__ void product_kernel(const uint16_t *weights, const uint16_t *tokens, int count, float *sums)
{
    __shared__ __align__(1024) uint16_t stage[MMA_ROWS + MAX_TOKENS][ROW_LENGTH]; /* rows of weights, then tokens */
    const int thread = threadIdx.x, lane = thread % WARP_SIZE, warp = thread / WARP_SIZE;
    float d[MAX_TOKENS / 2] = {};

    for (int i = thread; i < (MMA_ROWS + MAX_TOKENS) * CHUNKS_PER_ROW; i += WARPGROUP) {
        const int stage_row = i / CHUNKS_PER_ROW, chunk = i % CHUNKS_PER_ROW, token = stage_row - MMA_ROWS;
        const uint16_t *const from = stage_row < MMA_ROWS ? weights + stage_row * ROW_LENGTH
                                                          : tokens + (token < count ? token : 0) * ROW_LENGTH;

        __pipeline_memcpy_async(stage[stage_row] + (chunk ^ stage_row % 8) * CHUNK, from + chunk * CHUNK, 16,
                                token < count ? 0 : 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();

    async_proxy_fence_shared(); /* makes the threads' writes visible to the asynchronous proxy */
    wgmma_compiler_fence(d);
    wgmma_fence();
    for (int k = 0; k < ROW_LENGTH; k += MMA_K)
        wgmma_m64k16_bf16(d, wgmma_descriptor(stage[0] + k), wgmma_descriptor(stage[MMA_ROWS] + k));
    wgmma_commit_group();
    wgmma_wait_group<0>(); /* the sums are valid only after this wait */
    wgmma_compiler_fence(d);

    for (int i = 0; i < MAX_TOKENS / 2; i++) {
        int row = 0, token = 0;

        // TODO sum
        // To which row and token does d[i] belong? Warp w has rows 16 w to 16 w + 15; the chapter's figure shows the
        // details.
        (void)lane, (void)warp;
        row = thread % MMA_ROWS;
        token = i;
        // END sum
        if (token < count)
            sums[token * MMA_ROWS + row] = d[i];
    }
}

cudaError_t product_launch(const uint16_t *weights, const uint16_t *tokens, int count, float *sums)
{
    product_kernel<<<1, WARPGROUP>>>(weights, tokens, count, sums);
    return cudaGetLastError();
}
