/** @file load.h  From the command line to operands in host memory. */
#ifndef GATE_LOAD_H
#define GATE_LOAD_H

#include "harness/core/operand.h"
#include "harness/gate/options.h"

/**
 * Completes options->problem (tokens, experts, bias) from the input it names, checks it, asks the step whether it supports it,
 * allocates the operands, which the caller frees, and fills the inputs. False, owning nothing, with the reason: the arguments, a
 * file or memory.
 */
bool gate_load(struct gate_options *options, const struct gate_step *step, struct operands *operands,
               struct error *error);

#endif
