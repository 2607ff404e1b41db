/**
 * @file gpu/cublas.h
 * @brief A bf16 matrix product with cuBLAS, which is loaded at run time, so that programs build and run without it.
 */
#ifndef CUBLAS_H
#define CUBLAS_H

#include <cuda_runtime.h>
#include <stdbool.h>

/** The library and its handle. All zeros means not loaded. */
struct cublas {
    void *library, *handle;
};

/**
 * Opens the library for launches on the stream. Returns false if the library is not installed or does not work on this
 * machine.
 */
bool cublas_open(struct cublas *cublas, cudaStream_t stream);

/** Launches c = a b for bf16 matrices [size, size] in device memory, with sums in f32. */
cudaError_t cublas_multiply_bf16(const struct cublas *cublas, int size, const void *a, const void *b, void *c);

/** Closes the handle and the library, if they are open. */
void cublas_close(struct cublas *cublas);

#endif
