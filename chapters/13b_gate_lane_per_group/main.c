/** @file main.c  Chapter 13b: the bound with one lane per group, several tokens per warp. */
#include "harness/gate/gate.h"

#include <limits.h>
#include <string.h>

/** Returns whether this chapter has a specialised kernel for the problem; gate.cu has the same list. */
static bool has_kernel(const struct gate_problem *problem)
{
    static const int routers[][4] = {{256, 8, 4, 8}, {256, 16, 4, 8}, {128, 4, 2, 4}, {128, 8, 8, 8}, {512, 16, 8, 16}};
    const int asked[4] = {problem->num_experts, problem->num_expert_group, problem->topk_group, problem->topk};

    for (size_t i = 0; i < sizeof routers / sizeof *routers; i++)
        if (memcmp(routers[i], asked, sizeof asked) == 0)
            return problem->score == GATE_SCORE_SIGMOID;
    return false;
}

/** Returns why a problem is not supported, or NULL. The limits are chapter 05's, whose kernel is the fallback. */
static const char *unsupported_reason(const struct gate_problem *problem)
{
    const int groups = problem->num_expert_group;

    if (groups > 32 || (groups & (groups - 1)) != 0)
        return "--num-expert-group: not a power of two up to 32; a token's groups are lanes of one butterfly";
    if (problem->num_experts / groups > 32)
        return "--num-experts: more than 32 experts in a group; a thread keeps them in 32 registers; give more groups "
               "(--num-expert-group: at least a 32nd of the experts)";
    if (problem->topk > 32)
        return "--topk: more than 32; a token has room for as many choices";
    if (problem->num_tokens > INT_MAX)
        return "--num-tokens: more than 2147483647; a grid has at most as many blocks";
    if (problem->num_fused_shared_experts > 0 && !has_kernel(problem))
        return "--num-fused-shared-experts: not with this router; it falls back to chapter 05's kernel, which has none";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct gate_chapter chapter = {
        .implementation =
            {.name = "13b_gate_lane_per_group",
             .own_kernels = {"many_tokens_kernel"},
             .fallback = "chapter 05's; this chapter's are for sigmoid scores and the five shapes of router in gate.cu",
             .supports_shared_experts = true,
             .supports_overlap = true,
             .kernel_switch_tokens = {65536}, /* a number that does not fit in 16 bits */
             .unsupported_reason = unsupported_reason,
             .launch = gate_launch},
        .previous = {.name = "13a_gate_bound", .launch = gate_launch_previous},
    };
    return gate_main(argc, argv, &chapter);
}
