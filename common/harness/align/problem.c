#include "harness/align/problem.h"

#include "base/record.h"
#include "harness/core/limits.h"

#include <inttypes.h>
#include <stdio.h>

bool align_compute_numel(int64_t num_tokens, int topk, int64_t *numel, struct error *error)
{
    if (!num_tokens_check(num_tokens, error) || !count_at_least_one_check("topk", topk, error))
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
    return num_experts_check(problem->num_experts, error) &&
           count_at_least_one_check("block-size", problem->block_size, error);
}

bool align_check_computed_capacity(const struct align_problem *problem, const char *ids_flag, struct error *error)
{
    char slots[64];

    if (problem->capacity <= INT32_MAX)
        return true;
    format_count(problem->capacity, "slot", slots);
    return problem->capacity - problem->numel > problem->numel
               ? error_set(error,
                           "--block-size: %d; with its pads, sorted_token_ids would have %s and can have %d; try a "
                           "smaller one",
                           problem->block_size, slots, INT32_MAX)
               : error_set(error,
                           "--%s: %" PRId64 " ids; with pads, sorted_token_ids would have %s and can have %d; try "
                           "fewer",
                           ids_flag, problem->numel, slots, INT32_MAX);
}

bool align_problem_check(const struct align_problem *problem, struct error *error)
{
    if (!align_shape_check(problem, error))
        return false;
    if (problem->capacity < 0 || problem->capacity > INT32_MAX)
        return error_set(error, "--capacity: sorted_token_ids with %" PRId64 " slots; it can have 0 to %d",
                         problem->capacity, INT32_MAX);
    if (problem->capacity % problem->block_size != 0)
        return error_set(error,
                         "--capacity: %" PRId64
                         "; it must be a multiple of --block-size %d that all groups and their pads fit in",
                         problem->capacity, problem->block_size);
    return true;
}

void align_problem_describe(const struct align_problem *problem, char *text, size_t size)
{
    char typed[16], ids[64], experts[64], slots[64];

    snprintf(typed, sizeof typed, "%s id", dtype_name(align_ids_dtype(problem)));
    snprintf(text, size, "%s of %s in blocks of %d, %s", format_count(problem->numel, typed, ids),
             format_count(problem->num_experts, "expert", experts), problem->block_size,
             format_count(problem->capacity, "slot", slots));
}
