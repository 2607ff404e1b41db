/** @file main.c  Chapter 02: a block per token, a warp per group. */
#include "harness/gate/gate.h"

#include <limits.h>

static const char *unsupported_reason(const struct gate_problem *problem)
{
    if (problem->dtype != DTYPE_F32)
        return "--dtype: only f32 here; chapter 05 (05_fused_gate, in the same folder) brings f16 and bf16";
    if (problem->num_experts / problem->num_expert_group > 32)
        return "--num-experts: more than 32 experts in a group; a warp has one lane for each; give more groups "
               "(--num-expert-group: at least a 32nd of the experts)";
    if (problem->num_expert_group > 32)
        return "--num-expert-group: more than 32 groups; a block has at most 32 warps, one for each";
    if (problem->topk > 32)
        return "--topk: more than 32; the first warp has one lane for each chosen expert";
    if (problem->num_tokens > INT_MAX)
        return "--num-tokens: more than 2147483647; a grid has at most as many blocks, one for each token";
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct gate_chapter chapter = {
        .implementation = {.name = "02_warp_per_group",
                           .unsupported_reason = unsupported_reason,
                           .launch = gate_launch},
        .previous = {.name = "01_cpu_baseline", .compute_on_host = gate_compute_on_host_previous},
    };
    return gate_main(argc, argv, &chapter);
}
