/**
 * @file core/run.h  A checked run of an implementation over its tensors, for every operator: poisoned outputs, guard
 *                   bands, inputs compared afterwards.
 */
#ifndef RUN_H
#define RUN_H

#include "harness/core/tensor.h"

#include <cuda_runtime.h>

/**
 * An implementation and its problem. Core knows neither type: the operator supplies `call`, which passes the tensors'
 * addresses to its kernel and launches it (or, on the host, computes; then it fails only for lack of memory), and
 * `verify`, which checks the outputs on the host: false, as RUN_WRONG, with the first failure, or as RUN_NO_DEVICE when
 * memory is short.
 */
struct launch {
    cudaError_t (*call)(const struct launch *launch, const struct tensors *tensors, cudaStream_t stream);
    bool (*verify)(const struct launch *launch, const struct tensors *tensors, struct error *error);
    const void *problem;
    const void *implementation;
    size_t shared_bytes; /**< shared memory that a block needs, if not every GPU has as much; else 0 */
    double operations;   /**< operations, if they are compared with the device's rate; else 0 */
    int repeats;         /**< launches before the one whose answer is checked, with the same workspace */
    bool on_host;
};

/**
 * Launches once, or more often with `repeats`, copies the last answer to host memory and verifies it. False as
 * RUN_WRONG (a fault, a guard band or an input written to, a wrong answer) or RUN_NO_DEVICE (memory, or the device,
 * does not suffice).
 */
bool launch_run(const struct launch *launch, struct tensors *tensors, struct error *error);

/** Checks the reason why an implementation does not support its problem; NULL: it does. False sets the error. */
bool implementation_supports(const char *unsupported_reason, struct error *error);

/** Sets the error of a launch that failed with `status`: the kernel's fault, else CUDA's error. Returns false. */
bool launch_failed(cudaError_t status, struct error *error);

#endif
