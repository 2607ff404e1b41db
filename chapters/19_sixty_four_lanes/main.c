/** @file main.c  Chapter 19: the gate for warps of 64 lanes. */
#include "harness/gate/gate.h"

#include <limits.h>

static const char *unsupported_reason(const struct gate_problem *problem)
{
    if (problem->dtype != DTYPE_F32)
        return "--dtype: only f32 here; chapter 05 (05_fused_gate, in the same folder) brings f16 and bf16";
    if (problem->num_experts / problem->num_expert_group > 32)
        return "--num-experts: more than 32 experts in a group; half a wave has one lane for each; give more groups "
               "(--num-expert-group: at least a 32nd of the experts)";
    if (problem->num_expert_group > 8)
        return "--num-expert-group: more than 8 groups; the 64 lanes of a wave compare 8 with 8";
    if (problem->topk > 8)
        return "--topk: more than 8; the 64 lanes of a wave merge 8 lists of 8";
    if (problem->num_tokens > INT_MAX)
        return "--num-tokens: more than 2147483647; a grid has at most as many blocks, one for each token";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct gate_chapter chapter = {
        .implementation = {.name = "19_sixty_four_lanes",
                           .unsupported_reason = unsupported_reason,
                           .launch = gate_launch},
        .previous = {.name = "03_divergence_free", .launch = gate_launch_previous},
    };
    return gate_main(argc, argv, &chapter);
}
