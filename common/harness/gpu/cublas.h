/**
 * @file gpu/cublas.h
 * @brief One function of cuBLAS, loaded when it is asked for: programs are built and run where it is not installed.
 */
#ifndef CUBLAS_H
#define CUBLAS_H

#include <cuda_runtime.h>
#include <stdbool.h>

/** The library, and a handle of it. All zero: not there. */
struct cublas {
    void *library, *handle;
};

/** Opens it, for launches on the stream. False: it is not there, or it does not work here. */
bool cublas_open(struct cublas *cublas, cudaStream_t stream);

/** Launches c = a times b, of bf16 [size, size] in device memory, sums in f32. */
cudaError_t cublas_multiply(const struct cublas *cublas, int size, const void *a, const void *b, void *c);

/** Closes what is open. */
void cublas_close(struct cublas *cublas);

#endif
