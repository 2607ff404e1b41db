/**
 * @file primer.cu
 * @brief The primer's kernels: a few lines each, one idea each.
 */
#include "primer.h"

#include <cuda_runtime.h>

enum { WARP_SIZE = 32, WARPS = 4, THREADS = WARPS * WARP_SIZE, BLOCKS = 2 };

static const unsigned FULL_MASK = 0xffffffffu;

// [who]
static __global__ void who(int *out)
{
    const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    out[thread] = (int)threadIdx.x / WARP_SIZE * 100 + (int)threadIdx.x % WARP_SIZE; /* warp, lane */
}

cudaError_t primer_who(const int *, int *out)
{
    who<<<BLOCKS, THREADS>>>(out);
    return cudaGetLastError();
}
// [who]

// [shuffle]
/** The sum of the lanes' values, in every lane. */
static __device__ int warp_sum(int value)
{
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(FULL_MASK, value, offset);
    return value;
}
// [shuffle]

static __global__ void shuffle(int *out)
{
    out[threadIdx.x] = warp_sum((int)threadIdx.x);
}

cudaError_t primer_shuffle(const int *, int *out)
{
    shuffle<<<1, WARP_SIZE>>>(out);
    return cudaGetLastError();
}

// [barrier]
static __global__ void barrier(int *out)
{
    __shared__ int sums[WARPS];
    const int sum = warp_sum((int)threadIdx.x);

    if (threadIdx.x % WARP_SIZE == 0)
        sums[threadIdx.x / WARP_SIZE] = sum;
    __syncthreads(); /* every thread of the block has come here before any goes on */
    out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}
// [barrier]

cudaError_t primer_barrier(const int *, int *out)
{
    barrier<<<1, THREADS>>>(out);
    return cudaGetLastError();
}

/* As above, with the barrier left out. */
static __global__ void race(int *out)
{
    __shared__ int sums[WARPS];
    const int sum = warp_sum((int)threadIdx.x);

    if (threadIdx.x % WARP_SIZE == 0)
        sums[threadIdx.x / WARP_SIZE] = sum;
    out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

cudaError_t primer_race(const int *, int *out)
{
    race<<<1, THREADS>>>(out);
    return cudaGetLastError();
}

// [load]
static __global__ void load(const int *in, int stride, int *out)
{
    out[threadIdx.x] = in[threadIdx.x * stride];
}
// [load]

cudaError_t primer_neighbours(const int *in, int *out)
{
    load<<<1, WARP_SIZE>>>(in, 1, out);
    return cudaGetLastError();
}

cudaError_t primer_strides(const int *in, int *out)
{
    load<<<1, WARP_SIZE>>>(in, 8, out);
    return cudaGetLastError();
}

// [branch]
static __global__ void branch(const int *in, int *out)
{
    int value = in[threadIdx.x];

    if (value % 2 == 0)
        value = value / 2;
    else
        value = 3 * value + 1;
    out[threadIdx.x] = value;
}
// [branch]

cudaError_t primer_branch(const int *in, int *out)
{
    branch<<<1, WARP_SIZE>>>(in, out);
    return cudaGetLastError();
}

// [select]
static __global__ void select(const int *in, int *out)
{
    const int value = in[threadIdx.x];
    const int even = value % 2 == 0;

    out[threadIdx.x] = even * (value / 2) + (1 - even) * (3 * value + 1);
}
// [select]

cudaError_t primer_select(const int *in, int *out)
{
    select<<<1, WARP_SIZE>>>(in, out);
    return cudaGetLastError();
}
