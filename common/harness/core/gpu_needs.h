/** @file core/gpu_needs.h  A program's requirements of a GPU, as data, and checks of a GPU and a build against them. */
#ifndef GPU_NEEDS_H
#define GPU_NEEDS_H

#include "base/error.h"

#include <stddef.h>

/** Requirements of kernels beyond compute capability 7.5, which every GPU of this course has. All zeros: none. */
struct gpu_needs {
    int capability;   /**< the least compute capability, 90 for 9.0; 0: any */
    bool only;        /**< exactly that one: later GPUs lack these instructions */
    const char *what; /**< the feature that needs it: "bulk copies" */
};

/** The GPU that runs the kernels. All zeros, as for the simulator: no check applies. */
struct gpu {
    int capability;      /**< 90 for 9.0 */
    int compiled_for;    /**< 80 if the program was compiled for sm_80 */
    size_t shared_bytes; /**< largest shared memory of a block */
};

/** Checks that the GPU of this name meets the needs; NULL: none. False, as RUN_NO_DEVICE. */
bool gpu_meets(const struct gpu *gpu, const char *name, const struct gpu_needs *needs, struct error *error);

/**
 * Checks that the program was compiled for a GPU that meets the needs. False, as RUN_NO_DEVICE, if it was compiled for
 * an older one: the GPU of this name runs that code, but the newer instructions are missing in it.
 */
bool build_meets(const struct gpu *gpu, const char *name, const struct gpu_needs *needs, struct error *error);

/**
 * Checks that a block on the GPU of this name may have so many bytes of shared memory. False, as RUN_NO_DEVICE and
 * unsupported.
 */
bool gpu_has_shared_memory(const struct gpu *gpu, const char *name, size_t shared_bytes, struct error *error);

#endif
