/** @file run.h  The gate's operands, and one checked run of a step over them. */
#ifndef GATE_RUN_H
#define GATE_RUN_H

#include "harness/core/run.h"
#include "harness/gate/gate.h"

/** The gate's operands, in their order. */
enum { GATE_GATING_OUTPUT, GATE_CORRECTION_BIAS, GATE_TOPK_WEIGHTS, GATE_TOPK_IDS, NUM_GATE_OPERANDS };

/** Lists the operands of a checked problem and allocates them on the host. False, owning nothing, without memory. */
bool gate_operands_allocate(const struct gate_problem *problem, struct operands *operands, struct error *error);

/** Where a kernel, or a checker, finds them. */
struct gate_buffers gate_buffers_at(const struct operands *operands, enum operand_place place);

/** The step's launch and check, for running and timing. */
struct launch gate_launch_of(const struct gate_problem *problem, const struct gate_step *step);

/** Runs the step once and checks its answer. */
bool gate_run(const struct gate_problem *problem, const struct gate_step *step, struct operands *operands,
              struct error *error);

#endif
