/** @file gpu/floor.h  The least a launch can do. */
#ifndef FLOOR_H
#define FLOOR_H

#include <cuda_runtime.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Launches a kernel that does nothing. */
cudaError_t floor_launch_empty(cudaStream_t stream);

/** True if kernels compiled with this program run on the current device at all. */
bool floor_kernel_runs(void);

/** Which architecture the kernels that run here were compiled for, 80 for sm_80, even if the GPU is a newer one. */
cudaError_t floor_compiled_for(int *architecture);

#ifdef __cplusplus
}
#endif

#endif
