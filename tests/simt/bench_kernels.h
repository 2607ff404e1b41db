/** @file bench_kernels.h  Kernels for bench_simt.c and print_counts.c, one for each of the simulator's main costs. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Computes c = a b for three [size, size] matrices, with 16 x 16 tiles in shared memory. */
cudaError_t bench_matmul(const float *a, const float *b, float *c, int size);

/** Adds up the elements of x [count] above 0.5 in a grid-stride loop; each thread stores its own sum in y. */
cudaError_t bench_grid_stride_sum(const float *x, float *y, int count, int blocks);

/** Runs `rounds` butterfly sums in each warp and stores the results in y. */
cudaError_t bench_butterfly(int *y, int rounds, int blocks);

/** Runs `rounds` rounds of two barriers, with a store and a load of shared memory between them. */
cudaError_t bench_barrier(int *y, int rounds, int blocks);

#ifdef __cplusplus
}
#endif

#endif
