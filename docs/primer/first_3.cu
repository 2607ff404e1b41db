/** @file first_3.cu  The reader's first kernel, corrected. */
#include <cuda_runtime.h>

enum { THREADS = 128 };

// [first_3]
/** Adds to counts[e] the number of ids that equal e. Grid: one thread per id. */
static __global__ void count_kernel(const int *ids, int num_ids, int *counts)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < num_ids)
        atomicAdd(&counts[ids[i]], 1);
}

extern "C" cudaError_t count_launch(const int *ids, int num_ids, int *counts)
{
    const int blocks = (num_ids + THREADS - 1) / THREADS;

    count_kernel<<<blocks, THREADS>>>(ids, num_ids, counts);
    return cudaGetLastError();
}
// [first_3]
