/**
 * @file core/run.h  One run of an implementation over its tensors: poisoned outputs, guard bands, inputs compared
 * afterwards.
 */
#ifndef RUN_H
#define RUN_H

#include "harness/core/tensor.h"

#include <cuda_runtime.h>

/**
 * An implementation and the problem it is given. Core knows neither type: the operator brings `call`, which finds the
 * tensors' addresses for its kernel and launches (or, on the host, computes; then it fails only for lack of memory),
 * and `verify`, which checks the outputs on the host. False, as RUN_WRONG, with the first failure, or as RUN_NO_DEVICE
 * without memory to look.
 */
struct launch {
    cudaError_t (*call)(const struct launch *launch, const struct tensors *tensors, cudaStream_t stream);
    bool (*verify)(const struct launch *launch, const struct tensors *tensors, struct error *error);
    const void *problem;
    const void *implementation;
    size_t shared_bytes; /**< of shared memory that a block needs, if that is more than every GPU has; else 0 */
    double operations;   /**< that it must do, where that is compared with what the device can; else 0 */
    bool on_host;
};

/**
 * Launches once and verifies the answer, which is in host memory then. False as RUN_WRONG (a fault, a guard band or an
 * input written to, a wrong answer) or RUN_NO_DEVICE (memory, or the device, does not suffice).
 */
bool launch_run(const struct launch *launch, struct tensors *tensors, struct error *error);

/** False if there is a reason why an implementation does not take its problem; NULL: it does. */
bool implementation_takes(const char *unsupported_reason, struct error *error);

/** What a launch that failed with `status` ends in: the kernel's fault, else what CUDA says of it. Returns false. */
bool launch_failed(cudaError_t status, struct error *error);

#endif
