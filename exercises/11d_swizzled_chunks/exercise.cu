/**
 * @file exercise.cu
 * @brief 11d_swizzled_chunks: copies and loads 64-byte rows without bank conflicts or padding.
 *
 * The kernel is correct, but it has bank conflicts. Write your code between // TODO and // END; leave the rest
 * unchanged.
 */
#include "exercise.h"
#include "kernels/tensor_core.cuh"

#include <cuda_pipeline.h>

enum { WARP_SIZE = 32, WARPS = 2, MMA_ROWS = 16, MMA_K = 16 };
enum { CHUNK = 8, CHUNKS = K_STEP / CHUNK }; /* a chunk has 8 elements, 16 bytes; a row has 4 chunks */

/** Returns a chunk's index in its row, 0 to CHUNKS - 1. The kernel calls it for the store and for the load. */
static __device__ int index_of_chunk(int stage_row, int chunk)
{
    // TODO index
    // Each chunk's index is its own number, which is correct but slow. ldmatrix reads the same chunk of 8 neighbouring
    // rows simultaneously. Every second row begins in the same bank, so 4 of these 8 chunks share the same 4 banks.
    (void)stage_row;
    return chunk;
    // END index
}

static __device__ const void *swizzled_address(const uint16_t *stage, int stage_row, int chunk)
{
    return stage + stage_row * K_STEP + index_of_chunk(stage_row, chunk) * CHUNK;
}

/** Multiplies all weights by all tokens. Grid: one block of WARPS warps, each of which has 16 rows of weights. */
static __global__ void multiply_kernel(const uint16_t *weights, const uint16_t *tokens, float *sums)
{
    __shared__ __align__(128) uint16_t stage[STAGE_ROWS * K_STEP]; /* the weights' rows, then the tokens' */
    const int thread = threadIdx.x, lane = thread % WARP_SIZE, warp = thread / WARP_SIZE;
    float products[2][4] = {};

    for (int i = thread; i < STAGE_ROWS * CHUNKS; i += WARPS * WARP_SIZE) {
        const int stage_row = i / CHUNKS, chunk = i % CHUNKS;
        const uint16_t *const from = stage_row < WEIGHT_ROWS ? weights + stage_row * K_STEP
                                                             : tokens + (stage_row - WEIGHT_ROWS) * K_STEP;

        __pipeline_memcpy_async((void *)swizzled_address(stage, stage_row, chunk), from + chunk * CHUNK, 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();

    for (int k = 0; k < K_STEP / MMA_K; k++) {
        uint32_t a[4], b[4];

        ldmatrix_x4(a, swizzled_address(stage, warp * MMA_ROWS + lane % 16, 2 * k + lane / 16));
        ldmatrix_x4(b, swizzled_address(stage, WEIGHT_ROWS + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
        mma_m16n8k16_bf16(products[0], a, b);
        mma_m16n8k16_bf16(products[1], a, b + 2);
    }
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 4; i++) {
            const int row = warp * MMA_ROWS + lane / 4 + i / 2 * 8, token = half * 8 + lane % 4 * 2 + i % 2;

            sums[token * WEIGHT_ROWS + row] = products[half][i];
        }
}

cudaError_t multiply_launch(const uint16_t *weights, const uint16_t *tokens, float *sums)
{
    multiply_kernel<<<1, WARPS * WARP_SIZE>>>(weights, tokens, sums);
    return cudaGetLastError();
}
