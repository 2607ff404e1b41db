/** @file core/gpu_needs.h  What a program needs of a GPU, as data, and whether a GPU and a build have it. */
#ifndef GPU_NEEDS_H
#define GPU_NEEDS_H

#include "base/error.h"

#include <stddef.h>

/** What kernels need beyond what every GPU of this course has, compute capability 7.5. All zeros: nothing. */
struct gpu_needs {
    int capability;   /**< the least compute capability, 90 for 9.0; 0: any */
    bool only;        /**< that one and none later, whose instructions are others */
    const char *what; /**< what it is needed for: "bulk copies" */
};

/** The GPU that kernels run on. All zeros, as for the simulator: nothing is asked of it. */
struct gpu {
    int capability;      /**< 90 for 9.0 */
    int compiled_for;    /**< 80 if the program was compiled for sm_80 */
    size_t shared_bytes; /**< shared memory that a block may have */
};

/** False, as RUN_NO_DEVICE, if the GPU of this name lacks what is needed. NULL needs nothing. */
bool gpu_suits(const struct gpu *gpu, const char *name, const struct gpu_needs *needs, struct error *error);

/**
 * False, as RUN_NO_DEVICE, if the program was compiled for a GPU that lacks it: an older one, whose code the GPU of
 * this name runs as well, but in which the newer instructions are missing.
 */
bool build_suits(const struct gpu *gpu, const char *name, const struct gpu_needs *needs, struct error *error);

/**
 * False, as RUN_NO_DEVICE and unsupported, if a block of the GPU of this name may have less than so many bytes of
 * shared memory.
 */
bool gpu_has_room(const struct gpu *gpu, const char *name, size_t shared_bytes, struct error *error);

#endif
