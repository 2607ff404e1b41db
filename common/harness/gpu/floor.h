/**
 * @file gpu/floor.h  An empty kernel for the GPU backend, which measures its time and checks that kernels run at all.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <cuda_runtime.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Launches an empty kernel. */
cudaError_t floor_launch_empty(cudaStream_t stream);

/** Returns whether kernels compiled into this program run on the current device. */
bool floor_kernel_runs(void);

/**
 * Sets *architecture to the architecture for which the kernels were compiled, such as 80 for sm_80, even on a newer
 * GPU.
 */
cudaError_t floor_compiled_for(int *architecture);

#ifdef __cplusplus
}
#endif

#endif
