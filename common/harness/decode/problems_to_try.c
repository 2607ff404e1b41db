#include "harness/decode/run.h"

enum { TOKENS, ROUTER, OVERLAP, LAUNCHES, NUM_DIMENSIONS };

/*
 * Numbers of experts, groups, kept groups and experts per token. Chapter 13c has a specialised kernel for each of these
 * routers except the last.
 */
static const int routers[][4] = {{128, 4, 2, 4}, {128, 8, 8, 8}, {64, 4, 2, 6}};

static const struct covering_dimension dimensions[NUM_DIMENSIONS] = {
    [TOKENS] = {CORNERS(9, 1, 2, 33)},
    [ROUTER] = {CORNERS(0, 1, 2)},
    [OVERLAP] = {CORNERS(true, false)},
    [LAUNCHES] = {CORNERS(1, 2)},
};

void decode_start_covering_design(uint64_t seed, bool stop_after_corners, struct covering_design *covering)
{
    covering_start(covering, dimensions, NUM_DIMENSIONS, seed, stop_after_corners);
}

bool decode_options_set_next_problem(struct covering_design *covering, uint64_t seed, struct decode_options *options)
{
    struct moe_options *const moe = &options->moe;
    const int *router;
    bool wide;

    if (!covering_propose_problem(covering))
        return false;
    router = routers[covering_proposed_corner(covering, ROUTER)];
    wide = covering_proposed_corner(covering, TOKENS) == 2; /* only for few tokens, because the simulator is slow */
    *moe = moe_options_default();
    moe->program.seed = seed + (uint64_t)covering->num_accepted_problems;
    moe->program.num_tokens = covering_proposed_corner(covering, TOKENS);
    moe->program.num_launches = (int)covering_proposed_corner(covering, LAUNCHES);
    moe->program.num_tokens_given = moe->num_experts_given = moe->topk_given = true;
    moe->hidden_size_given = moe->intermediate_size_given = true;
    moe->program.check_all = true;
    moe->problem.num_experts = router[0];
    moe->problem.topk = router[3];
    moe->problem.hidden_size = wide ? 384 : 128;
    moe->problem.intermediate_size = wide ? 128 : 64;
    options->num_expert_group = router[1];
    options->topk_group = router[2];
    options->num_expert_group_given = options->topk_group_given = true;
    options->overlap_launches = covering_proposed_corner(covering, OVERLAP);
    return true;
}
