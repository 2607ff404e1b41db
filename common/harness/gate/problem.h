/** @file gate/problem.h  Checks, array sizes and a description of a gate problem, for the harness. */
#ifndef GATE_PROBLEM_H
#define GATE_PROBLEM_H

#include "base/error.h"
#include "harness/gate/gate.h"

/* With fewer rows, one thread finishes the work before a second thread wakes up. */
enum { GATE_MIN_ROWS_PER_THREAD = 64 };

/** Checks the shape and that no size overflows. On failure the error names the flag and the allowed values. */
bool gate_problem_check(const struct gate_problem *problem, struct error *error);

/**
 * Returns whether topk is larger than the number of experts in the kept groups, and sets *most to a problem that
 * chooses as many as there are. If a program does not support that problem, its own limit is the smaller one.
 */
bool gate_topk_exceeds_groups(const struct gate_problem *problem, struct gate_problem *most);

/** Returns the length of a row of topk_ids. Here and below, the problem must have passed gate_problem_check(). */
static inline int gate_experts_per_token(const struct gate_problem *problem)
{
    return problem->topk + problem->num_fused_shared_experts;
}

/** Returns the number of elements of topk_ids, which does not overflow. */
static inline size_t gate_num_ids(const struct gate_problem *problem)
{
    return (size_t)problem->num_tokens * gate_experts_per_token(problem);
}

static inline int gate_experts_per_group(const struct gate_problem *problem)
{
    return problem->num_experts / problem->num_expert_group;
}

/** Returns a one-line reason why the implementation does not support the problem, or NULL if it does. */
const char *gate_unsupported_reason(const struct gate_implementation *implementation,
                                    const struct gate_problem *problem);

/** The names of the score functions, "sigmoid", "softmax", "none", in the order of the enum, NULL-terminated. */
extern const char *const gate_score_names[];

/** Returns the name of the bias's type, or "none" without a bias. */
const char *gate_bias_dtype_name(const struct gate_problem *problem);

/** Writes a one-line description: "2048 tokens, 256 experts in 8 groups, ...". */
void gate_problem_describe(const struct gate_problem *problem, char *text, size_t size);

#endif
