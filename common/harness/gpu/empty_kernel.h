/**
 * @file gpu/empty_kernel.h  An empty kernel for the GPU backend, which measures its time and checks that kernels run at
 *        all.
 */
#ifndef EMPTY_KERNEL_H
#define EMPTY_KERNEL_H

#include <cuda_runtime.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Launches an empty kernel. */
cudaError_t empty_kernel_launch(cudaStream_t stream);

/** Returns whether kernels compiled into this program run on the current device. */
bool device_can_run_kernels(void);

/**
 * Sets *architecture to the architecture for which the kernels were compiled, such as 80 for sm_80, even on a newer
 * GPU.
 */
cudaError_t kernels_compiled_architecture(int *architecture);

#ifdef __cplusplus
}
#endif

#endif
