/** @file align_run.h  One checked run of a step: poisoned memory, guard bands, inputs compared afterwards. */
#ifndef ALIGN_RUN_H
#define ALIGN_RUN_H

#include "harness/align/reference.h"
#include "harness/core/device_buffer.h"
#include "harness/core/run_result.h"

/** The operands of a launch on the device. */
struct align_device {
    struct device_buffer topk_ids, expert_map, sorted_token_ids, expert_ids, num_tokens_post_padded, workspace;
};

/**
 * Allocates the operands, sorted_token_ids `offset` words past a 16-byte boundary and the workspace that `step` asks
 * for, and uploads the inputs. False, owning nothing, with the reason.
 */
bool align_device_start(const struct align_problem *problem, const struct align_step *step, int offset,
                        const struct align_input *input, struct align_device *device, struct error *error);
void align_device_end(struct align_device *device);

/** Where the kernel finds its operands. */
struct align_buffers align_device_buffers(const struct align_input *input, const struct align_device *device);

/** Overwrites outputs and workspace, so that nothing of an earlier run can pass for this one's. */
bool align_device_poison(const struct align_device *device, struct error *error);

/** Fetches the answer, looks at every guard band and compares the inputs with what they were, then checks. */
enum run_result align_device_verify(const struct align_problem *problem, const struct align_step *step,
                                    const struct align_input *input, const struct align_device *device,
                                    const struct align_output *output, struct error *error);

/**
 * Runs the step once on the input and checks its answer. RUN_WRONG: `error` has the fault or the first failure.
 * RUN_NO_DEVICE: memory or the device does not suffice.
 */
enum run_result align_run(const struct align_problem *problem, const struct align_step *step, int offset,
                          const struct align_input *input, const struct align_output *output, struct error *error);

#endif
