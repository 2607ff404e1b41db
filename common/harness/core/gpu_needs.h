/**
 * @file core/gpu_needs.h
 * @brief A program's requirements for the GPU, and functions that check whether a GPU and a build meet them.
 */
#ifndef GPU_NEEDS_H
#define GPU_NEEDS_H

#include "base/error.h"

#include <stddef.h>

/** Requirements beyond compute capability 7.5, the minimum for this course. All zeros means no further requirements. */
struct gpu_needs {
    int min_compute_capability;     /**< lowest compute capability required, 90 for 9.0; 0 if any will do */
    bool requires_exact_capability; /**< later GPUs lack these instructions */
    const char *feature_name;       /**< feature that requires the capability, such as "bulk copies" */
};

/** The GPU that runs the kernels. All zeros for the simulator, which needs no checks. */
struct gpu {
    int compute_capability;    /**< compute capability, 90 for 9.0 */
    int compiled_architecture; /**< target architecture of the program: 80 for sm_80 */
    size_t max_shared_bytes;   /**< maximum shared memory per block in bytes */
};

/**
 * Checks that the GPU `gpu_name` meets the requirements; `needs` may be NULL. If it does not, returns false and sets
 * RUN_CANNOT_RUN.
 */
bool gpu_check_meets_needs(const struct gpu *gpu, const char *gpu_name, const struct gpu_needs *needs,
                           struct error *error);

/**
 * Checks that the program was compiled for a GPU that meets the requirements. If it was not, returns false and sets
 * RUN_CANNOT_RUN: a newer GPU also runs code that was compiled for an older one, but such code lacks the newer
 * instructions.
 */
bool build_check_meets_needs(const struct gpu *gpu, const char *gpu_name, const struct gpu_needs *needs,
                             struct error *error);

/**
 * Checks that a block on the GPU `gpu_name` may use `shared_bytes` bytes of shared memory. If not, returns false and
 * sets RUN_CANNOT_RUN and `problem_is_unsupported`.
 */
bool gpu_check_has_shared_memory(const struct gpu *gpu, const char *gpu_name, size_t shared_bytes, struct error *error);

#endif
