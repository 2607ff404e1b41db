/**
 * @file routing/run.h
 * @brief Routing's tensors, the gate's followed by align's: functions that list and fill them and describe the launch.
 */
#ifndef ROUTING_RUN_H
#define ROUTING_RUN_H

#include "harness/align/run.h"
#include "harness/gate/run.h"
#include "harness/routing/options.h"

/** Indices of routing's tensors: the gate's, then align's except for the ids, which are already among the gate's. */
enum {
    ROUTING_TENSOR_EXPERT_MAP = NUM_GATE_TENSORS,
    NUM_ROUTING_TENSORS = NUM_GATE_TENSORS + NUM_ALIGN_TENSORS - 1,
    ROUTING_TENSOR_WORKSPACE = NUM_ROUTING_TENSORS - 1
};

/** Returns the tensors' addresses in device memory, for a kernel, or in host memory, for a checker. */
struct routing_buffers routing_buffers_at(const struct tensors *tensors, enum tensor_location location);

/**
 * Completes `problem` from the input that the options select, checks that the problem is valid and supported, allocates
 * the tensors, which the caller frees, and fills the inputs. On failure (invalid arguments, a file error or no memory),
 * frees everything, returns false and sets *error.
 */
bool routing_prepare_problem_and_tensors(struct routing_options *options,
                                         const struct routing_implementation *implementation,
                                         struct routing_problem *problem, struct tensors *tensors, struct error *error);

/**
 * Sets the problem to the options' gate and the align problem that follows from it, and checks that the result is valid
 * and supported. On failure, returns false and sets *error.
 */
bool routing_problem_from_options(const struct routing_options *options,
                                  const struct routing_implementation *implementation, struct routing_problem *problem,
                                  struct error *error);

/** Makes the struct with which core/run.h launches and checks the implementation, and core/bench.h times it. */
struct checked_launch routing_make_checked_launch(const struct routing_problem *problem,
                                                  const struct routing_implementation *implementation);

#endif
