/** @file gate/check.h  Is an answer to a gate problem right? */
#ifndef GATE_CHECK_H
#define GATE_CHECK_H

#include "base/error.h"
#include "harness/gate/gate.h"

/** What of a tie: our rule (the lower group, the lower expert), or, for PyTorch, which leaves it open, either side. */
enum gate_ties { GATE_TIES_LOWER_FIRST, GATE_TIES_FREE };

/**
 * Checks every element of topk_weights and topk_ids against the reference's intervals, and what must hold of any right
 * answer: distinct ids in range from at most topk_group groups, best first. All buffers are host memory. False, as
 * RUN_WRONG, with the first failure (the first token in order, and there the first rule it breaks) as one line, "token
 * 3, group 1, expert 40: RULE; expected ..., got ..."; or as RUN_NO_DEVICE when memory is short.
 */
bool gate_check(const struct gate_problem *problem, const struct gate_buffers *buffers, enum gate_ties ties,
                struct error *error);

#endif
