/** @file gpu/generate.h  Generated arrays, made and compared where they lie. */
#ifndef GENERATE_H
#define GENERATE_H

#include "harness/core/dtype.h"
#include "harness/core/generated.h"

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Launches what backend_generate() promises, for f32 and bf16. `others`, in device memory, is NULL where the values are
 * to be written.
 */
cudaError_t generate_launch(struct generated values, enum dtype dtype, int64_t first, int64_t count, void *device,
                            unsigned long long *others);

#ifdef __cplusplus
}
#endif

#endif
