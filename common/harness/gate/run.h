/**
 * @file gate/run.h
 * @brief The gate's tensors: functions that list them, fill them from the command line's input, and describe the
 *        launch.
 */
#ifndef GATE_RUN_H
#define GATE_RUN_H

#include "harness/core/run.h"
#include "harness/gate/options.h"

/** Indices of the gate's tensors. */
enum {
    GATE_TENSOR_GATING_OUTPUT,
    GATE_TENSOR_CORRECTION_BIAS,
    GATE_TENSOR_TOPK_WEIGHTS,
    GATE_TENSOR_TOPK_IDS,
    NUM_GATE_TENSORS
};

/**
 * Lists the tensors of a checked problem and allocates them on the host. If memory runs out, frees everything and
 * returns false.
 */
bool gate_tensors_allocate_host(const struct gate_problem *problem, struct tensors *tensors, struct error *error);

/** Returns the tensors' addresses in device memory, for a kernel, or in host memory, for a checker. */
struct gate_buffers gate_buffers_at(const struct tensors *tensors, enum tensor_location location);

/**
 * Completes options->problem (tokens, experts, bias) from the input that the options select, checks that the problem is
 * valid and supported, allocates the tensors, which the caller frees, and fills the inputs. On failure (invalid
 * arguments, a file error or no memory), frees everything, returns false and sets *error.
 */
bool gate_prepare_problem_and_tensors(struct gate_options *options, const struct gate_implementation *implementation,
                                      struct tensors *tensors, struct error *error);

/** Makes the struct with which core/run.h launches and checks the implementation, and core/bench.h times it. */
struct checked_launch gate_make_checked_launch(const struct gate_problem *problem,
                                               const struct gate_implementation *implementation);

#endif
