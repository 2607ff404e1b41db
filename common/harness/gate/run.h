/** @file gate_run.h  One checked run of a step: poisoned outputs, guard bands, inputs compared afterwards. */
#ifndef GATE_RUN_H
#define GATE_RUN_H

#include "harness/core/device_buffer.h"
#include "harness/core/error.h"
#include "harness/gate/gate.h"
#include "harness/gate/input.h"
#include "harness/core/run_result.h"

/** The answer, in host memory. */
struct gate_output {
    float *topk_weights; /**< [num_tokens, topk] */
    int32_t *topk_ids;   /**< [num_tokens, topk] */
};

bool gate_output_allocate(const struct gate_problem *problem, struct gate_output *output, struct error *error);
void gate_output_free(struct gate_output *output);

/** The operands of a launch on the device. */
struct gate_device {
    struct device_buffer gating_output, correction_bias, topk_weights, topk_ids;
};

/** Allocates and uploads the operands. False, owning nothing, with the reason. */
bool gate_device_start(const struct gate_problem *problem, const struct gate_input *input, struct gate_device *device,
                       struct error *error);
void gate_device_end(struct gate_device *device);

/** Where the kernel finds its operands. */
struct gate_buffers gate_device_buffers(const struct gate_problem *problem, const struct gate_device *device);

/** Overwrites both outputs, so that nothing of an earlier run can pass for this one's. */
bool gate_device_poison(const struct gate_device *device, struct error *error);

/** Fetches the answer, looks at every guard band and compares the inputs with what they were, then checks. */
enum run_result gate_device_verify(const struct gate_problem *problem, const struct gate_input *input,
                                   const struct gate_device *device, struct gate_output *output, struct error *error);

/**
 * Runs the step once on the input and checks its answer. RUN_WRONG: `error` has the fault or the first failure.
 * RUN_NO_DEVICE: memory or the device does not suffice.
 */
enum run_result gate_run(const struct gate_problem *problem, const struct gate_step *step,
                         const struct gate_input *input, struct gate_output *output, struct error *error);

#endif
