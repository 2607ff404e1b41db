/** @file gate/problem.h  Is a gate problem well formed, how large are its arrays, and how does one name it. */
#ifndef GATE_PROBLEM_H
#define GATE_PROBLEM_H

#include "base/error.h"
#include "harness/gate/gate.h"

/* With fewer rows the work is done before a second thread has woken up. */
enum { GATE_ROWS_WORTH_A_THREAD = 64 };

/** Returns false and names the flag and what is allowed when the shape makes no sense or its sizes overflow. */
bool gate_problem_check(const struct gate_problem *problem, struct error *error);

/** How many experts a token has: a row of topk_ids. Only for problems that passed gate_problem_check(), as below. */
static inline int gate_experts_per_token(const struct gate_problem *problem)
{
    return problem->topk + problem->num_fused_shared_experts;
}

/** The size of topk_ids; nothing overflows. */
static inline size_t gate_choices(const struct gate_problem *problem)
{
    return (size_t)problem->num_tokens * gate_experts_per_token(problem);
}

static inline int gate_experts_per_group(const struct gate_problem *problem)
{
    return problem->num_experts / problem->num_expert_group;
}

/** Why the implementation does not take the problem, in one line; NULL: it does. */
const char *gate_unsupported_reason(const struct gate_implementation *implementation,
                                    const struct gate_problem *problem);

/** "sigmoid", "softmax", "none", in the order of the enum; NULL ends them. */
extern const char *const gate_score_names[];

/** "none", or the type of the bias. */
const char *gate_bias_name(const struct gate_problem *problem);

/** Writes one line for people: "2048 tokens, 256 experts in 8 groups, ...". */
void gate_problem_describe(const struct gate_problem *problem, char *text, size_t size);

#endif
