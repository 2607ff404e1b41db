/**
 * @file core/run.h
 * @brief Runs an operator's implementation on its tensors with all checks: poisoned outputs, guard bands, and inputs
 *        that must not have changed.
 */
#ifndef RUN_H
#define RUN_H

#include "harness/core/tensor.h"

#include <cuda_runtime.h>

/**
 * An implementation and its problem; the files in core/ do not know their types. The operator supplies
 * `launch_kernels`, which passes the tensors' addresses to its kernel and launches it (or computes on the host, which
 * fails only if memory runs out), and `verify_outputs`, which checks the outputs on the host; on failure,
 * `verify_outputs` returns false and sets RUN_WRONG and the first failure, or RUN_CANNOT_RUN if memory runs out.
 */
struct checked_launch {
    cudaError_t (*launch_kernels)(const struct checked_launch *launch, const struct tensors *tensors,
                                  cudaStream_t stream);
    bool (*verify_outputs)(const struct checked_launch *launch, const struct tensors *tensors, struct error *error);
    const void *problem;
    const void *implementation;
    size_t shared_bytes;             /**< shared memory per block in bytes if some GPUs have less, else 0 */
    double num_operations;           /**< number of operations, or 0 if their rate is not compared with the device's */
    int num_launches_before_checked; /**< launches with the same workspace before the launch whose answer is checked */
    bool runs_on_host;
};

/**
 * Launches once, after `num_launches_before_checked` launches, copies the last answer to host memory and verifies it.
 * On failure, returns false and sets RUN_WRONG (a fault, a write to a guard band or an input, a wrong answer) or
 * RUN_CANNOT_RUN (out of memory, or the device cannot run the kernel).
 */
bool checked_launch_run(const struct checked_launch *launch, struct tensors *tensors, struct error *error);

/** An option's value, which a message repeats. */
struct option_value {
    const char *flag; /**< the option without "--"; NULL after the last value */
    int64_t value;
    const char *origin; /**< where the value comes from if not from the option, as " (default)", or NULL */
};

/**
 * Checks that there is no reason why a problem is unsupported. If there is one, sets the error to it and returns false.
 * If the reason is about the value of one of the options, the error repeats the value: "--FLAG: 100 is not a multiple
 * of 64; ..." or "--FLAG: 40 is more than 32; ...".
 */
bool check_supported(const char *unsupported_reason, const struct option_value *values, struct error *error);
/** Does the same if the reason is about this option; otherwise returns true. */
bool check_option_supported(const char *unsupported_reason, const struct option_value *value, struct error *error);

/**
 * Sets the error for a launch that failed with `status`: the kernel's fault if known, else CUDA's message. Returns
 * false.
 */
bool error_set_launch_failure(cudaError_t status, struct error *error);

#endif
