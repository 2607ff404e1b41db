/** @file gate_load.h  From the command line to operands in host memory. */
#ifndef GATE_LOAD_H
#define GATE_LOAD_H

#include "harness/gate/options.h"
#include "harness/core/run_result.h"

/**
 * Completes options->problem (tokens, experts, bias) from the input it names, checks it, asks the chapter whether it
 * supports it, and fills `input`, which the caller frees. Returns RUN_READY, or RUN_BAD_INPUT (the arguments or a file)
 * or RUN_NO_DEVICE (memory), when `input` owns nothing and `error` has the reason.
 */
enum run_result gate_load(struct gate_options *options, const struct gate_step *step, struct gate_input *input,
                          struct error *error);

#endif
