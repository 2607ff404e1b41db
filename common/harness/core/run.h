/** @file run.h  One run of a step over its operands: poisoned outputs, guard bands, inputs compared afterwards. */
#ifndef RUN_H
#define RUN_H

#include "harness/core/operand.h"

#include <cuda_runtime.h>

/**
 * A step and the problem it is given. Core knows neither type: `call`, which the operator brings, finds the operands' addresses
 * for its kernel and launches (or, on the host, computes; then it fails only for lack of memory).
 */
struct launch {
    cudaError_t (*call)(const struct launch *launch, const struct operands *operands, cudaStream_t stream);
    const void *problem;
    const void *step;
    bool on_host;
};

/**
 * Launches once; then the outputs are in host memory, for the operator to check. False as RUN_WRONG (a fault, a guard band
 * or an input written to) or RUN_NO_DEVICE (memory, or the device, does not suffice).
 */
bool launch_run(const struct launch *launch, struct operands *operands, struct error *error);

/** What a launch that failed with `status` ends in: the kernel's fault, else what CUDA says of it. Returns false. */
bool launch_failed(cudaError_t status, struct error *error);

#endif
