/** @file gate/check.h  Is an answer to a gate problem right? */
#ifndef GATE_CHECK_H
#define GATE_CHECK_H

#include "harness/core/error.h"
#include "harness/gate/gate.h"

/** What of a tie: our rule (the lower group, the lower expert), or, for PyTorch, which leaves it open, either side. */
enum gate_ties { GATE_TIES_LOWER_FIRST, GATE_TIES_FREE };

/** The first thing wrong with an answer: the first token in order, and there the first rule it breaks. */
struct gate_failure {
    int64_t token;
    int group;      /**< -1 where no one group is meant */
    int expert;     /**< -1 where no one expert is meant */
    char rule[160]; /**< what had to hold */
    error_words expected;
    error_words got;
};

/**
 * Checks every element of topk_weights and topk_ids against the reference's intervals, and what must hold of any right
 * answer: distinct ids in range from at most topk_group groups, best first. All buffers are host memory.
 * False, as RUN_WRONG, with the first failure, which the error has as one line; or as RUN_NO_DEVICE when memory is short.
 */
bool gate_check(const struct gate_problem *problem, const struct gate_buffers *buffers, enum gate_ties ties,
                struct gate_failure *failure, struct error *error);

#endif
