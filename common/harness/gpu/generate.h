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
 * Launches the kernel of backend_generate_or_compare(), for f32 and bf16. `num_different` is a counter in device
 * memory, or NULL to write the values.
 */
cudaError_t generate_or_compare_array_launch(struct generated_array values, enum dtype dtype, int64_t first_index,
                                             int64_t num_values, void *device, unsigned long long *num_different);

#ifdef __cplusplus
}
#endif

#endif
