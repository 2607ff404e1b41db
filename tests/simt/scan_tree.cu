/**
 * @file scan_tree.cu
 * @brief A program for the tests of docs/: exclusive sums by a tree in shared memory, Blelloch's way, and their trace.
 *
 *     scan_tree COUNT... --trace FILE.json     2, 4, 8, ... counts
 *
 * The kernel counts with atomics, as align does, then adds up; the static array is there to be in the way.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include "simt.h"

enum { THREADS = 64, MAX_COUNTS = 1024 };

struct counts {
    int count[MAX_COUNTS];
};

static __global__ void scan_kernel(const counts *counts, int size, int *sums)
{
    extern __shared__ int tree[];
    __shared__ int total[7];
    const int thread = threadIdx.x;

    for (int i = thread; i < size; i += THREADS)
        tree[i] = 0;
    __syncthreads();
    for (int i = 0; i < size; i++)
        for (int n = thread; n < counts->count[i]; n += THREADS)
            atomicAdd(&tree[i], 1);
    __syncthreads();
    for (int stride = 1; stride < size; stride *= 2) {
        for (int right = 2 * stride * (thread + 1) - 1; right < size; right += 2 * stride * THREADS)
            tree[right] += tree[right - stride];
        __syncthreads();
    }
    if (thread == 0) {
        total[3] = tree[size - 1];
        tree[size - 1] = 0;
    }
    __syncthreads();
    for (int stride = size / 2; stride > 0; stride /= 2) {
        for (int right = 2 * stride * (thread + 1) - 1; right < size; right += 2 * stride * THREADS) {
            const int before = tree[right];

            tree[right] += tree[right - stride];
            tree[right - stride] = before;
        }
        if (stride > 1)
            __syncthreads();
    }
    __syncthreads();
    for (int i = thread; i < size; i += THREADS)
        sums[i] = tree[i];
    if (thread == 0)
        sums[size] = total[3];
}

/** Runs the kernel; false with cudaGetLastError() and simt_fault() if something went wrong. */
static bool run(const counts *host, int size)
{
    counts *device = NULL;
    int *sums = NULL;
    bool good = cudaMalloc(&device, sizeof *device) == cudaSuccess &&
                cudaMalloc(&sums, (size + 1) * sizeof *sums) == cudaSuccess &&
                cudaMemcpy(device, host, sizeof *host, cudaMemcpyHostToDevice) == cudaSuccess;

    if (good)
        scan_kernel<<<1, THREADS, size * sizeof(int)>>>(device, size, sums);
    good = good && cudaGetLastError() == cudaSuccess;
    cudaFree(device);
    cudaFree(sums);
    return good;
}

int main(int argc, char **argv)
{
    static counts counts;
    const int size = argc - 3;
    FILE *const file = size > 0 && size <= MAX_COUNTS ? fopen(argv[argc - 1], "w") : NULL;

    for (int i = 0; file && i < size; i++)
        counts.count[i] = atoi(argv[1 + i]);
    if (!file || !simt_trace_begin(100000) || !run(&counts, size) || !simt_trace_end(file) || fclose(file) != 0) {
        fprintf(stderr, "scan_tree: %s\n", simt_fault() ? simt_fault() : "it did not work");
        return 2;
    }
    return 0;
}
