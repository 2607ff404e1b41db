#include "harness/gate/problem.h"

#include "base/record.h"
#include "harness/core/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *const gate_score_names[] = {"sigmoid", "softmax", "none", NULL};

/** Returns whether every kernel can give each group a lane of its own. */
static bool can_be_lanes(int groups)
{
    return groups <= 32 && (groups & (groups - 1)) == 0;
}

/**
 * Returns the smallest suitable number of groups of at most 32 experts, one that can be lanes if `as_lanes`, or 0 if
 * there is none.
 */
static int example_of_groups(const struct gate_problem *problem, bool as_lanes)
{
    const int most_in_group = 32;

    for (int groups = problem->topk_group; groups < problem->num_experts; groups++) {
        const int held = problem->num_experts / groups;

        if ((can_be_lanes(groups) || !as_lanes) && problem->num_experts % groups == 0 && held <= most_in_group &&
            problem->topk_group * held >= problem->topk)
            return groups;
    }
    return 0;
}

bool gate_topk_exceeds_groups(const struct gate_problem *problem, struct gate_problem *most)
{
    *most = *problem;
    if (problem->num_expert_group < 1 || problem->topk_group < 1 || problem->topk_group > problem->num_expert_group ||
        problem->num_experts < 1 || problem->num_experts % problem->num_expert_group != 0)
        return false;
    most->topk = problem->topk_group * gate_experts_per_group(problem);
    return problem->topk > most->topk;
}

static bool check_groups(const struct gate_problem *problem, struct error *error)
{
    if (problem->num_experts % problem->num_expert_group != 0) {
        const int as_lanes = example_of_groups(problem, true);
        const int groups = as_lanes > 0 ? as_lanes : example_of_groups(problem, false);
        char example[128] = "";

        if (groups > 0)
            snprintf(example, sizeof example, "; for example --num-expert-group %d%s", groups,
                     as_lanes > 0 ? " (every kernel takes powers of two up to 32, with at most 32 experts in a group)"
                                  : "");
        return error_set(error, "--num-experts: %d is not a multiple of --num-expert-group (%d%s)%s",
                         problem->num_experts, problem->num_expert_group,
                         problem->num_expert_group == 8 ? " by default" : "", example);
    }
    if (problem->topk_group > problem->num_expert_group)
        return error_set(error, "--topk-group: %d; it must be 1 to %d, the number of groups (--num-expert-group)",
                         problem->topk_group, problem->num_expert_group);

    const int held = problem->topk_group * gate_experts_per_group(problem);

    if (problem->topk > held)
        return error_set(error,
                         "--topk: %d; it must be 1 to %d, the number of experts in the kept groups (--topk-group, "
                         "--num-expert-group)",
                         problem->topk, held);
    if (problem->has_bias && gate_experts_per_group(problem) == 1)
        return error_set(error, "--num-expert-group: groups of one expert have no second best; with a bias a group "
                                "counts its two best");
    return true;
}

/** Checks the number of shared experts, and that the factor by which their weight is divided is not 0. */
static bool check_shared_experts(const struct gate_problem *problem, struct error *error)
{
    if (problem->num_fused_shared_experts < 0)
        return error_set(error, "--num-fused-shared-experts: %d; it must be at least 0",
                         problem->num_fused_shared_experts);
    if (problem->num_fused_shared_experts > 0 && problem->routed_scaling_factor == 0.0f)
        return error_set(error, "--routed-scaling-factor: 0; the weight of shared experts is divided by it");
    return true;
}

bool gate_problem_check(const struct gate_problem *problem, struct error *error)
{
    const size_t num_experts = (size_t)problem->num_experts + problem->num_fused_shared_experts;
    size_t bytes;

    if (!num_tokens_check(problem->num_tokens, error) || !num_experts_check(problem->num_experts, error) ||
        !count_at_least_one_check("num-expert-group", problem->num_expert_group, error) ||
        !count_at_least_one_check("topk-group", problem->topk_group, error) ||
        !count_at_least_one_check("topk", problem->topk, error) || !check_groups(problem, error) ||
        !check_shared_experts(problem, error))
        return false;
    if (problem->has_bias && problem->bias_dtype != DTYPE_F32 && problem->bias_dtype != problem->dtype)
        return error_set(error, "--bias-dtype: the bias is f32 or has the logits' type");
    if (!isfinite(problem->routed_scaling_factor))
        return error_set(error, "--routed-scaling-factor: it must be a finite number");
    if (__builtin_mul_overflow((size_t)problem->num_tokens, num_experts * sizeof(float), &bytes) || bytes > INT64_MAX)
        return error_set(error, "--num-tokens: %" PRId64 " tokens of %zu experts are more bytes than 63 bits count",
                         problem->num_tokens, num_experts);
    return true;
}

const char *gate_unsupported_reason(const struct gate_implementation *implementation,
                                    const struct gate_problem *problem)
{
    if (problem->num_fused_shared_experts > 0 && !implementation->supports_shared_experts)
        return "--num-fused-shared-experts: this program weighs the chosen experts only; chapters 13a to 13c take "
               "shared ones";
    if (problem->scale_later && !implementation->supports_shared_experts)
        return "--scale-later: this program scales its weights; with --routed-scaling-factor 1 they stay as they are";
    if (problem->overlap && !implementation->supports_overlap)
        return "--overlap: this program launches one kernel after the other; chapters 13a to 13c, 15 and 17 overlap "
               "them";
    return implementation->unsupported_reason ? implementation->unsupported_reason(problem) : NULL;
}

const char *gate_bias_dtype_name(const struct gate_problem *problem)
{
    return problem->has_bias ? dtype_name(problem->bias_dtype) : "none";
}

void gate_problem_describe(const struct gate_problem *problem, char *text, size_t size)
{
    char tokens[64], experts[64], groups[64], shared[32] = "";

    if (problem->num_fused_shared_experts > 0)
        snprintf(shared, sizeof shared, " and %d shared", problem->num_fused_shared_experts);
    snprintf(text, size, "%s, %s in %s, top %d of the best %d%s; %s, score %s, bias %s, weights %s, x %g%s",
             format_count(problem->num_tokens, "token", tokens), format_count(problem->num_experts, "expert", experts),
             format_count(problem->num_expert_group, "group", groups), problem->topk, problem->topk_group, shared,
             dtype_name(problem->dtype), gate_score_names[problem->score], gate_bias_dtype_name(problem),
             problem->renormalize ? "renormalised" : "as scored", problem->routed_scaling_factor,
             problem->scale_later ? " later" : "");
}
