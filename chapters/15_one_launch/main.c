/** @file main.c  Chapter 15: from logits to the list of rows in one launch, up to 256 tokens. */
#include "../14b_align_published_counts/shared_bytes.h"
#include "exchange.h"

#include <limits.h>

/**
 * Returns the reason why a problem is unsupported, or NULL if it is supported. The limits are those of the fallback,
 * chapters 13c and 14b.
 */
static const char *unsupported_reason(const struct routing_problem *problem)
{
    const int groups = problem->gate.num_expert_group;

    if (groups > 32 || (groups & (groups - 1)) != 0)
        return "--num-expert-group: not a power of two up to 32; a token's groups are lanes of one butterfly";
    if (problem->gate.num_experts / groups > 32)
        return "--num-experts: more than 32 experts in a group; a thread keeps them in 32 registers; give more groups "
               "(--num-expert-group: at least a 32nd of the experts)";
    if (problem->gate.topk > 32)
        return "--topk: more than 32; a token has room for as many choices";
    if (problem->gate.num_tokens > INT_MAX)
        return "--num-tokens: more than 2147483647; a grid has at most as many blocks";
    return NULL;
}

static size_t workspace_bytes(const struct routing_problem *problem)
{
    return EXCHANGE_BYTES + align_exchange_bytes(&problem->align);
}

/** Returns the size in bytes of the shared memory needed by chapter 14b's kernels, the fallback for larger problems. */
static size_t shared_bytes(const struct routing_problem *problem)
{
    return align_many_ids_shared_bytes_if_over_48_kb(&problem->align);
}

int main(int argc, char **argv)
{
    static const struct routing_chapter chapter = {
        .implementation =
            {.name = "15_one_launch",
             .own_kernels = {"one_launch_kernel"},
             .fallback = "those of chapters 13c and 14b; this chapter's is for up to 256 tokens, sigmoid scores and "
                         "four shapes of router",
             .kernel_switch_tokens = {64, 256}, /* the most blocks that the simulator co-schedules; MAX_TOKENS */
             .unsupported_reason = unsupported_reason,
             .workspace_bytes = workspace_bytes,
             .workspace_must_be_zeroed = true,
             .shared_bytes = shared_bytes,
             .launch = routing_launch},
        .previous = {.name = "13c, then 14b, in two launches",
                     .workspace_bytes = workspace_bytes,
                     .workspace_must_be_zeroed = true,
                     .shared_bytes = shared_bytes,
                     .launch = routing_launch_pair},
    };
    return routing_main(argc, argv, &chapter);
}
