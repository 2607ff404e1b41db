/** @file host_api_kernels.h  The kernels that test_host_api.c launches. */
#ifndef HOST_API_KERNELS_H
#define HOST_API_KERNELS_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sets `count` ints to `value`. */
cudaError_t host_api_fill(int *memory, int count, int value);

/** Launches a kernel that stores one int, with the given configuration, and returns the launch's error. */
cudaError_t host_api_store_one(int *memory, dim3 grid, dim3 block, size_t dynamic_shared);

/** Sets the limit on the dynamic shared memory of host_api_store_one()'s kernel. */
cudaError_t host_api_allow_dynamic_shared_bytes(int bytes);

#ifdef __cplusplus
}
#endif

#endif
