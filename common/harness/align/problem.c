#include "harness/align/problem.h"

#include "harness/core/limits.h"

#include <inttypes.h>
#include <stdio.h>

bool align_count_ids(int64_t num_tokens, int topk, int64_t *numel, struct error *error)
{
    if (!num_tokens_check(num_tokens, error) || !count_check("topk", topk, error))
        return false;
    if (num_tokens > INT32_MAX / topk)
        return error_set(error, "--num-tokens: %" PRId64 " tokens of %d ids; there can be %d ids in all", num_tokens,
                         topk, INT32_MAX);
    *numel = num_tokens * topk;
    return true;
}

bool align_shape_check(const struct align_problem *problem, struct error *error)
{
    if (problem->numel < 0 || problem->numel > INT32_MAX)
        return error_set(error, "--num-tokens: %" PRId64 " ids; there can be 0 to %d", problem->numel, INT32_MAX);
    return num_experts_check(problem->num_experts, error) && count_check("block-size", problem->block_size, error);
}

bool align_problem_check(const struct align_problem *problem, struct error *error)
{
    if (!align_shape_check(problem, error))
        return false;
    if (problem->capacity < 0 || problem->capacity > INT32_MAX)
        return error_set(error, "--capacity: sorted_token_ids with %" PRId64 " slots; it can have 0 to %d",
                         problem->capacity, INT32_MAX);
    if (problem->capacity % problem->block_size != 0)
        return error_set(error, "--capacity: %" PRId64 "; it must be a multiple of --block-size %d", problem->capacity,
                         problem->block_size);
    return true;
}

void align_problem_describe(const struct align_problem *problem, char *text, size_t size)
{
    snprintf(text, size, "%" PRId64 " %s id%s of %d expert%s in blocks of %d, %" PRId64 " slot%s", problem->numel,
             dtype_name(align_ids_dtype(problem)), problem->numel == 1 ? "" : "s", problem->num_experts,
             problem->num_experts == 1 ? "" : "s", problem->block_size, problem->capacity,
             problem->capacity == 1 ? "" : "s");
}
