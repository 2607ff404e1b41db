/** @file gate/run.h  The gate's operands: what they are, filling them from the command line, a run over them. */
#ifndef GATE_RUN_H
#define GATE_RUN_H

#include "harness/core/run.h"
#include "harness/gate/options.h"

/** The gate's operands, in their order. */
enum { GATE_GATING_OUTPUT, GATE_CORRECTION_BIAS, GATE_TOPK_WEIGHTS, GATE_TOPK_IDS, NUM_GATE_OPERANDS };

/** Lists the operands of a checked problem and allocates them on the host. False, owning nothing, without memory. */
bool gate_operands_allocate(const struct gate_problem *problem, struct operands *operands, struct error *error);

/** Where a kernel, or a checker, finds them. */
struct gate_buffers gate_buffers_at(const struct operands *operands, enum operand_place place);

/**
 * Completes options->problem (tokens, experts, bias) from the input it names, checks it, asks the step whether it
 * supports it, allocates the operands, which the caller frees, and fills the inputs. False, owning nothing, with the
 * reason: the arguments, a file or memory.
 */
bool gate_load(struct gate_options *options, const struct gate_step *step, struct operands *operands,
               struct error *error);

/** The step's launch and check, for running and timing. */
struct launch gate_launch_of(const struct gate_problem *problem, const struct gate_step *step);

#endif
