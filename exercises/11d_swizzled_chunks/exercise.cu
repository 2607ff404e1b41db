/**
 * @file exercise.cu
 * @brief 11d_swizzled_chunks: copies and loads 64-byte lines without bank conflicts or padding.
 *
 * The kernel is correct, but it has bank conflicts. Write your code between // TODO and // END; leave the rest
 * unchanged.
 */
#include "exercise.h"
#include "kernels/tensor_core.cuh"

#include <cuda_pipeline.h>

enum { WARP_SIZE = 32, WARPS = 2, MMA_ROWS = 16, MMA_K = 16 };
enum { CHUNK = 8, CHUNKS = LENGTH / CHUNK }; /* a chunk has 8 elements, 16 bytes; a line has 4 chunks */

/** Returns a chunk's slot in its line, 0 to CHUNKS - 1. The kernel calls it for the store and for the load. */
static __device__ int slot_of_chunk(int line, int chunk)
{
    // TODO slot
    // Each chunk is in the slot with the chunk's number, which is correct but slow. ldmatrix reads the same chunk of 8
    // neighbouring lines simultaneously. Every second line begins in the same bank, so 4 of these 8 chunks share the
    // same 4 banks.
    (void)line;
    return chunk;
    // END slot
}

static __device__ const void *piece_at(const uint16_t *lines, int line, int chunk)
{
    return lines + line * LENGTH + slot_of_chunk(line, chunk) * CHUNK;
}

/** Multiplies all weights by all tokens. Grid: one block of WARPS warps, each of which has 16 rows of weights. */
static __global__ void multiply_kernel(const uint16_t *weights, const uint16_t *tokens, float *sums)
{
    __shared__ __align__(128) uint16_t lines[LINES * LENGTH]; /* the weights' lines, then the tokens' */
    const int thread = threadIdx.x, lane = thread % WARP_SIZE, warp = thread / WARP_SIZE;
    float products[2][4] = {};

    for (int i = thread; i < LINES * CHUNKS; i += WARPS * WARP_SIZE) {
        const int line = i / CHUNKS, chunk = i % CHUNKS;
        const uint16_t *const from = line < WEIGHT_LINES ? weights + line * LENGTH
                                                         : tokens + (line - WEIGHT_LINES) * LENGTH;

        __pipeline_memcpy_async((void *)piece_at(lines, line, chunk), from + chunk * CHUNK, 16);
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();

    for (int k = 0; k < LENGTH / MMA_K; k++) {
        uint32_t a[4], b[4];

        ldmatrix_x4(a, piece_at(lines, warp * MMA_ROWS + lane % 16, 2 * k + lane / 16));
        ldmatrix_x4(b, piece_at(lines, WEIGHT_LINES + lane / 16 * 8 + lane % 8, 2 * k + lane / 8 % 2));
        mma_m16n8k16_bf16(products[0], a, b);
        mma_m16n8k16_bf16(products[1], a, b + 2);
    }
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 4; i++) {
            const int row = warp * MMA_ROWS + lane / 4 + i / 2 * 8, token = half * 8 + lane % 4 * 2 + i % 2;

            sums[token * WEIGHT_LINES + row] = products[half][i];
        }
}

cudaError_t multiply_launch(const uint16_t *weights, const uint16_t *tokens, float *sums)
{
    multiply_kernel<<<1, WARPS * WARP_SIZE>>>(weights, tokens, sums);
    return cudaGetLastError();
}
