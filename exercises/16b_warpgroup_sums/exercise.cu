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

enum { WARP_SIZE = 32, WARPGROUP = 4 * WARP_SIZE, PRODUCT_K = 16 };
enum { CHUNK = 8, CHUNKS = LENGTH / CHUNK }; /* a chunk has 8 elements, 16 bytes; a line has 8 chunks */

/** Multiplies rows by tokens. Grid: one block, which is a warpgroup. */
static __global__ void product_kernel(const uint16_t *weights, const uint16_t *tokens, int count, float *sums)
{
    __shared__ __align__(1024) uint16_t lines[ROWS + TOKENS][LENGTH]; /* rows of weights, then tokens */
    const int thread = threadIdx.x, lane = thread % WARP_SIZE, warp = thread / WARP_SIZE;
    float d[TOKENS / 2] = {};

    for (int i = thread; i < (ROWS + TOKENS) * CHUNKS; i += WARPGROUP) {
        const int line = i / CHUNKS, chunk = i % CHUNKS, token = line - ROWS;
        const uint16_t *const from = line < ROWS ? weights + line * LENGTH
                                                 : tokens + (token < count ? token : 0) * LENGTH;

        __pipeline_memcpy_async(lines[line] + (chunk ^ line % 8) * CHUNK, from + chunk * CHUNK, 16,
                                token < count ? 0 : 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();

    async_proxy_fence_shared(); /* makes the threads' writes visible to the asynchronous proxy */
    wgmma_keep(d);
    wgmma_fence();
    for (int k = 0; k < LENGTH; k += PRODUCT_K)
        wgmma_m64k16_bf16(d, wgmma_operand(lines[0] + k), wgmma_operand(lines[ROWS] + k));
    wgmma_commit_group();
    wgmma_wait_group<0>(); /* the sums are valid only after this wait */
    wgmma_keep(d);

    for (int i = 0; i < TOKENS / 2; i++) {
        int row = 0, token = 0;

        // TODO slot
        // To which row and token does d[i] belong? Warp w has rows 16 w to 16 w + 15; the chapter's figure shows the
        // details.
        (void)lane, (void)warp;
        row = thread % ROWS;
        token = i;
        // END slot
        if (token < count)
            sums[token * ROWS + row] = d[i];
    }
}

cudaError_t product_launch(const uint16_t *weights, const uint16_t *tokens, int count, float *sums)
{
    product_kernel<<<1, WARPGROUP>>>(weights, tokens, count, sums);
    return cudaGetLastError();
}
