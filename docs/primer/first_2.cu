/** @file first_2.cu  The reader's first kernel, without the race but with the second bug. */
#include <cuda_runtime.h>

enum { THREADS = 128 };

/** Adds to counts[e] the number of ids that equal e. Grid: one thread per id. */
static __global__ void count_kernel(const int *ids, int *counts)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    // [first_2]
    atomicAdd(&counts[ids[i]], 1);
    // [first_2]
}

extern "C" cudaError_t count_launch(const int *ids, int num_ids, int *counts)
{
    const int blocks = (num_ids + THREADS - 1) / THREADS;

    count_kernel<<<blocks, THREADS>>>(ids, counts);
    return cudaGetLastError();
}
