/**
 * @file core/gpu_needs.h
 * @brief A program's requirements for the GPU, and functions that check whether a GPU and a build meet them.
 */
#ifndef GPU_NEEDS_H
#define GPU_NEEDS_H

#include "base/error.h"

#include <stddef.h>

/** Requirements beyond compute capability 7.5, which every GPU of this course has. All zeros: none. */
struct gpu_needs {
    int capability;   /**< the lowest compute capability, 90 for 9.0; 0: any */
    bool only;        /**< requires exactly that capability, because later GPUs lack these instructions */
    const char *what; /**< the feature that requires it, such as "bulk copies" */
};

/** The GPU that runs the kernels. All zeros for the simulator, which needs no checks. */
struct gpu {
    int capability;      /**< compute capability, 90 for 9.0 */
    int compiled_for;    /**< the program's target: 80 for sm_80 */
    size_t shared_bytes; /**< largest shared memory of a block in bytes */
};

/** Checks that the GPU `name` meets the needs, which may be NULL. Otherwise returns false and RUN_NO_DEVICE. */
bool gpu_meets(const struct gpu *gpu, const char *name, const struct gpu_needs *needs, struct error *error);

/**
 * Checks that the program was compiled for a GPU that meets the needs. Otherwise returns false and RUN_NO_DEVICE: a
 * newer GPU also runs code that was compiled for an older one, but such code lacks the newer instructions.
 */
bool build_meets(const struct gpu *gpu, const char *name, const struct gpu_needs *needs, struct error *error);

/**
 * Checks that a block on the GPU `name` may have `shared_bytes` of shared memory. Otherwise returns false and
 * RUN_NO_DEVICE, with `unsupported` set.
 */
bool gpu_has_shared_memory(const struct gpu *gpu, const char *name, size_t shared_bytes, struct error *error);

#endif
