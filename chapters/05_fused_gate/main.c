/** @file main.c  Chapter 05: the gate within one warp, a thread per group. */
#include "harness/gate/gate.h"

#include <limits.h>

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
    return NULL;
}

/** Returns why chapter 04 cannot run the problem (it would read 16-bit inputs as floats), or NULL if it can. */
static const char *before_unsupported_reason(const struct gate_problem *problem)
{
    return problem->dtype != DTYPE_F32 ? "--dtype: chapter 04 has only f32" : NULL;
}

int main(int argc, char **argv)
{
    static const struct gate_chapter chapter = {
        .implementation = {.name = "05_fused_gate", .unsupported_reason = unsupported_reason, .launch = gate_launch},
        .previous = {.name = "04_bitonic_sort",
                     .unsupported_reason = before_unsupported_reason,
                     .launch = gate_launch_previous},
    };
    return gate_main(argc, argv, &chapter);
}
