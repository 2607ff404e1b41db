/** @file moe/problem.h  Checks, array sizes and a description of a layer, for the harness. */
#ifndef MOE_PROBLEM_H
#define MOE_PROBLEM_H

#include "base/error.h"
#include "harness/align/align.h"
#include "harness/moe/moe.h"

/**
 * Checks everything except the block size and the capacity. On failure the error names the flag, its value and the
 * allowed values.
 */
bool moe_shape_check(const struct moe_problem *problem, struct error *error);

/** Returns align's part of the problem: the i32 ids and the blocks. */
struct align_problem moe_align_problem(const struct moe_problem *problem);

/** Returns the number of elements of one expert's w13 or of its w2. The problem must have passed moe_shape_check(). */
static inline int64_t moe_w13_elements_per_expert(const struct moe_problem *problem)
{
    return 2 * (int64_t)problem->intermediate_size * problem->hidden_size;
}

static inline int64_t moe_w2_elements_per_expert(const struct moe_problem *problem)
{
    return (int64_t)problem->hidden_size * problem->intermediate_size;
}

/** Returns a one-line reason why the implementation does not support the problem, or NULL if it does. */
static inline const char *moe_unsupported_reason(const struct moe_implementation *implementation,
                                                 const struct moe_problem *problem)
{
    return implementation->unsupported_reason ? implementation->unsupported_reason(problem) : NULL;
}

/** Writes a one-line description: "48 tokens of 256, top 4 of 32 experts of 128, bf16, blocks of 16". */
void moe_problem_describe(const struct moe_problem *problem, char *text, size_t size);

#endif
