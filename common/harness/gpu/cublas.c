/** @file gpu/cublas.c  cuBLAS through its C interface, whose constants and types are the same in versions 12 and 13. */
#include "harness/gpu/cublas.h"

#include <dlfcn.h>
#include <library_types.h>
#include <stdio.h>

/* These values are from cublas_v2.h, which is not installed with every CUDA runtime. */
enum { OPERATION_NONE = 0, COMPUTE_F32 = 68, ALGORITHM_DEFAULT = -1 };

typedef int create_function(void **handle);
typedef int destroy_function(void *handle);
typedef int set_stream_function(void *handle, cudaStream_t stream);
typedef int multiply_function(void *handle, int operation_a, int operation_b, int m, int n, int k, const void *alpha,
                              const void *a, cudaDataType type_a, int pitch_a, const void *b, cudaDataType type_b,
                              int pitch_b, const void *beta, void *c, cudaDataType type_c, int pitch_c, int compute,
                              int algorithm);

/** Loads the library that matches the runtime's version, from the loader's path or the toolkit's usual directory. */
static void *load_library(void)
{
    static const char *const folders[] = {"", "/usr/local/cuda/lib64/"};
    void *library = NULL;
    char path[64];

    for (size_t i = 0; !library && i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%slibcublas.so.%d", folders[i], CUDART_VERSION / 1000);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

bool cublas_open(struct cublas *cublas, cudaStream_t stream)
{
    create_function *create;
    set_stream_function *set_stream;

    *cublas = (struct cublas){.library = load_library()};
    if (!cublas->library)
        return false;
    *(void **)&create = dlsym(cublas->library, "cublasCreate_v2");
    *(void **)&set_stream = dlsym(cublas->library, "cublasSetStream_v2");
    if (create && set_stream && dlsym(cublas->library, "cublasDestroy_v2") && dlsym(cublas->library, "cublasGemmEx") &&
        create(&cublas->handle) == 0 && set_stream(cublas->handle, stream) == 0)
        return true;
    cublas_close(cublas);
    return false;
}

cudaError_t cublas_multiply_bf16(const struct cublas *cublas, int size, const void *a, const void *b, void *c)
{
    const float one = 1.0f, zero = 0.0f;
    multiply_function *multiply;

    *(void **)&multiply = dlsym(cublas->library, "cublasGemmEx");
    return multiply(cublas->handle, OPERATION_NONE, OPERATION_NONE, size, size, size, &one, a, CUDA_R_16BF, size, b,
                    CUDA_R_16BF, size, &zero, c, CUDA_R_16BF, size, COMPUTE_F32, ALGORITHM_DEFAULT) == 0
               ? cudaSuccess
               : cudaErrorUnknown;
}

void cublas_close(struct cublas *cublas)
{
    destroy_function *destroy;

    if (cublas->handle) {
        *(void **)&destroy = dlsym(cublas->library, "cublasDestroy_v2");
        destroy(cublas->handle);
    }
    if (cublas->library)
        dlclose(cublas->library);
    *cublas = (struct cublas){0};
}
