/** @file gate/check.h  The checker of the gate's outputs, for programs and tests. */
#ifndef GATE_CHECK_H
#define GATE_CHECK_H

#include "base/error.h"
#include "harness/gate/gate.h"

/** The winners of a tie that the checker accepts: only the lower group or expert or, as in PyTorch, either. */
enum gate_tie_rule { GATE_TIES_LOWER_WINS, GATE_TIES_EITHER_WINS };

/**
 * Checks every element of topk_weights and topk_ids against the reference's intervals and against the rules that every
 * correct answer obeys: distinct ids in range from at most topk_group groups, best first. All buffers are in host
 * memory. On failure, returns false and sets RUN_WRONG and one line for the lowest wrong token and the first rule that
 * the token breaks, "token 3, group 1, expert 40: RULE; expected ..., got ..."; or sets RUN_CANNOT_RUN if memory runs
 * out.
 */
bool gate_check(const struct gate_problem *problem, const struct gate_buffers *buffers, enum gate_tie_rule tie_rule,
                struct error *error);

#endif
