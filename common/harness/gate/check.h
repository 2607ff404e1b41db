/** @file gate/check.h  The checker of the gate's outputs, for programs and tests. */
#ifndef GATE_CHECK_H
#define GATE_CHECK_H

#include "base/error.h"
#include "harness/gate/gate.h"

/** Rule for ties: the lower group and the lower expert win, or, as PyTorch leaves it open, either side may win. */
enum gate_ties { GATE_TIES_LOWER_FIRST, GATE_TIES_FREE };

/**
 * Checks every element of topk_weights and topk_ids against the reference's intervals, and the rules of any right
 * answer: distinct ids in range from at most topk_group groups, best first. All buffers are host memory. False, as
 * RUN_WRONG, with the first failure (of the lowest token, the first rule that it breaks) as one line, "token 3, group
 * 1, expert 40: RULE; expected ..., got ..."; or as RUN_NO_DEVICE when memory is short.
 */
bool gate_check(const struct gate_problem *problem, const struct gate_buffers *buffers, enum gate_ties ties,
                struct error *error);

#endif
