/** @file first_1.cu  The reader's first kernel in its most obvious form, which has two bugs. */
// [first_1]
#include <cuda_runtime.h>

enum { THREADS = 128 };

/** Adds to counts[e] the number of ids that equal e. Grid: one thread per id. */
static __global__ void count_kernel(const int *ids, int *counts)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    counts[ids[i]]++;
}

extern "C" cudaError_t count_launch(const int *ids, int num_ids, int *counts)
{
    const int blocks = (num_ids + THREADS - 1) / THREADS;

    count_kernel<<<blocks, THREADS>>>(ids, counts);
    return cudaGetLastError();
}
// [first_1]
