#include "harness/moe/problem.h"

#include "base/record.h"
#include "harness/align/problem.h"
#include "harness/core/limits.h"

#include <inttypes.h>
#include <stdio.h>

/** Largest size of a row: rows are indexed by int, and a grid's y dimension is limited. */
enum { MAX_SIZE = 1 << 20 };

static bool size_check(const char *name, int size, struct error *error)
{
    return (size >= 1 && size <= MAX_SIZE) || error_set(error, "--%s: %d; it must be 1 to %d", name, size, MAX_SIZE);
}

bool moe_shape_check(const struct moe_problem *problem, struct error *error)
{
    int64_t numel;

    if (!align_compute_numel(problem->num_tokens, problem->topk, &numel, error) ||
        !num_experts_check(problem->num_experts, error) || !size_check("hidden-size", problem->hidden_size, error) ||
        !size_check("intermediate-size", problem->intermediate_size, error))
        return false;
    if (problem->dtype != DTYPE_F32 && problem->dtype != DTYPE_BF16)
        return error_set(error, "--dtype: %s; the layer is of f32 or bf16", dtype_name(problem->dtype));
    return true; /* 2^20 experts of 2 x 2^20 x 2^20 elements are 2^61 elements, 2^63 bytes: allocation fails earlier */
}

struct align_problem moe_align_problem(const struct moe_problem *problem)
{
    return (struct align_problem){.numel = moe_num_choices(problem),
                                  .num_experts = problem->num_experts,
                                  .block_size = problem->block_size,
                                  .capacity = problem->capacity};
}

void moe_problem_describe(const struct moe_problem *problem, char *text, size_t size)
{
    char tokens[64], experts[64], sizes[2][32];

    snprintf(text, size, "%s of %s, top %d of %s of %s, %s, blocks of %d",
             format_count(problem->num_tokens, "token", tokens),
             format_thousands((uint64_t)problem->hidden_size, sizes[0]), problem->topk,
             format_count(problem->num_experts, "expert", experts),
             format_thousands((uint64_t)problem->intermediate_size, sizes[1]), dtype_name(problem->dtype),
             problem->block_size);
}
