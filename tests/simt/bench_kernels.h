/** @file bench_kernels.h  Three kernels that exercise the simulator's three costs. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** c = a b, all [size, size], through 16 x 16 tiles in shared memory. */
cudaError_t bench_matmul(const float *a, const float *b, float *c, int size);

/** Each thread adds up every stride-th element of x [count] and leaves the sum in y. */
cudaError_t bench_stream(const float *x, float *y, int count, int blocks);

/** y[i] = rounds butterflies over the warp of i. */
cudaError_t bench_butterfly(int *y, int rounds, int blocks);

/** rounds barriers, a shared word written and another read between them. */
cudaError_t bench_barrier(int *y, int rounds, int blocks);

#ifdef __cplusplus
}
#endif

#endif
