/** @file run_result.h  How a run of a program ends. */
#ifndef RUN_RESULT_H
#define RUN_RESULT_H

#include "harness/core/error.h"

#include <cuda_runtime.h>

/** How a run ended. The numbers are exit codes. */
enum run_result {
    RUN_VERIFIED = 0,
    RUN_READY = 0, /**< nothing is wrong so far: operands are loaded, times are taken */
    RUN_WRONG = 1,
    RUN_BAD_INPUT = 2,
    RUN_NO_DEVICE = 3 /**< no device, or the device or the memory does not suffice */
};

/** What a launch that failed with `status` ends in; `error` gets the kernel's fault, else what CUDA says of it. */
enum run_result run_launch_failed(cudaError_t status, struct error *error);

#endif
