/** @file gpu/generate.h  Generates or compares arrays in device memory, for the GPU backend. */
#ifndef GENERATE_H
#define GENERATE_H

#include "harness/core/dtype.h"
#include "harness/core/generated.h"

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Launches the kernel of backend_generate(), for f32 and bf16. `others` is a counter in device memory, or NULL to write
 * the values.
 */
cudaError_t generate_launch(struct generated values, enum dtype dtype, int64_t first, int64_t count, void *device,
                            unsigned long long *others);

#ifdef __cplusplus
}
#endif

#endif
