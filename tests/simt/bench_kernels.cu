/** @file bench_kernels.cu  See bench_kernels.h. */
#include "bench_kernels.h"

enum { TILE = 16, THREADS = 256 };

static __global__ void matmul_kernel(const float *a, const float *b, float *c, int size)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;

    for (int k = 0; k < size; k += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * size + k + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * size + col];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * size + col] = sum;
}

static __global__ void stream_kernel(const float *x, float *y, int count)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;

    for (int i = thread; i < count; i += gridDim.x * blockDim.x) {
        if (x[i] > 0.5f)
            sum += x[i];
    }
    y[thread] = sum;
}

static __global__ void butterfly_kernel(int *y, int rounds)
{
    int value = threadIdx.x;

    for (int round = 0; round < rounds; round++) {
        for (int lanes = 16; lanes > 0; lanes /= 2)
            value += __shfl_xor_sync(0xffffffffu, value, lanes);
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static __global__ void barrier_kernel(int *y, int rounds)
{
    __shared__ int words[THREADS];
    int value = threadIdx.x;

    for (int round = 0; round < rounds; round++) {
        words[threadIdx.x] = value;
        __syncthreads();
        value += words[threadIdx.x ^ 33];
        __syncthreads();
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

cudaError_t bench_matmul(const float *a, const float *b, float *c, int size)
{
    matmul_kernel<<<dim3(size / TILE, size / TILE), dim3(TILE, TILE)>>>(a, b, c, size);
    return cudaGetLastError();
}

cudaError_t bench_grid_stride_sum(const float *x, float *y, int count, int blocks)
{
    stream_kernel<<<blocks, THREADS>>>(x, y, count);
    return cudaGetLastError();
}

cudaError_t bench_butterfly(int *y, int rounds, int blocks)
{
    butterfly_kernel<<<blocks, THREADS>>>(y, rounds);
    return cudaGetLastError();
}

cudaError_t bench_barrier(int *y, int rounds, int blocks)
{
    barrier_kernel<<<blocks, THREADS>>>(y, rounds);
    return cudaGetLastError();
}
