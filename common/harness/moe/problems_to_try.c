#include "harness/moe/options.h"

#include "harness/moe/problem.h"
#include "harness/moe/run.h"

/**
 * The dimensions. moe_start_covering_design() adds as corners the numbers of tokens at which the implementation changes
 * its method.
 */
enum {
    TOKENS,
    HIDDEN,
    INTERMEDIATE,
    EXPERTS,
    TOPK,
    TYPE,
    BLOCK_SIZE,
    DIST,
    MAP,
    SCALE,
    SIGNED_WEIGHTS,
    LAUNCHES,
    NUM_DIMENSIONS
};

/*
 * Types. TILED_BF16 is bf16 with only those sizes and block sizes for which chapters with a tensor-core kernel do not
 * fall back to an earlier chapter's kernel.
 */
enum { TILED_BF16, ANY_BF16, F32 };

/*
 * Scales of the tokens' elements. With some scales, products are far outside the range of exp; with others, they are at
 * the limits of the types' range.
 */
static const float scales[] = {1.0f, 100.0f, 1e15f, 1e-12f};

static const struct covering_dimension dimensions[NUM_DIMENSIONS] = {
    [TOKENS] = {CORNERS(2, 0, 1, 3, 9, 16, 17, 31, 33, 64, 65, 200, 257), .num_isolated_corners = 1},
    /* multiples of 64 for tensor cores; 704 refills shorter rings of stages, 768 a ring of eleven stages */
    [HIDDEN] = {CORNERS(128, 1, 31, 33, 64, 65, 100, 192, 256, 704, 768, 832, 1152)},
    [INTERMEDIATE] = {CORNERS(64, 1, 17, 31, 33, 65, 128, 130, 192, 320)},
    [EXPERTS] = {CORNERS(3, 1, 2, 5, 16, 33, 255, 256, 257)},
    [TOPK] = {CORNERS(1, 2, 3, 4, 8, 16, 32)},
    [TYPE] = {CORNERS(TILED_BF16, ANY_BF16, F32)},
    /* 0 stands for the implementation's choice */
    [BLOCK_SIZE] = {CORNERS(0, 1, 5, 8, 16, 32, 48, 64, 128, 192, 256)},
    [DIST] = {CORNERS(ALIGN_DIST_UNIFORM, ALIGN_DIST_BALANCED, ALIGN_DIST_ZIPF, ALIGN_DIST_ONE_EXPERT,
                      ALIGN_DIST_SPARSE, ALIGN_DIST_REPEATED)},
    [MAP] = {CORNERS(false, true)},
    [SCALE] = {CORNERS(0, 1, 2, 3)},
    [SIGNED_WEIGHTS] = {CORNERS(false, true)},
    [LAUNCHES] = {CORNERS(1, 2, 3)},
};

/*
 * Limits on a problem: the number of products in all launches, without padding and with the padding that a tile of up
 * to 64 rows computes; the number of weight elements; the number of slots in the list. With tensor cores, problems of
 * the smallest sizes may have a few more tokens.
 */
enum {
    MOST_PRODUCTS = 1 << 19,
    MOST_PADDED_PRODUCTS = 1 << 22,
    LEAST_TILED = 3 * 128 * 64,
    MOST_TILED_TOKENS = 257,
    TILE_ROWS = 64,
    MOST_WEIGHTS = 1 << 18,
    MOST_SLOTS = 1 << 13
};

void moe_start_covering_design(const struct moe_implementation *implementation, uint64_t seed, bool stop_after_corners,
                               struct covering_design *covering)
{
    covering_start(covering, dimensions, NUM_DIMENSIONS, seed, stop_after_corners);
    for (int i = 0; i < MOE_MAX_KERNEL_SWITCHES && implementation->kernel_switch_tokens[i] > 0; i++)
        for (int64_t tokens = implementation->kernel_switch_tokens[i];
             tokens <= implementation->kernel_switch_tokens[i] + 1; tokens++)
            covering_add_corner(covering, TOKENS, tokens, tokens > 1024);
}

/** Sets the options to those of the proposed problem. */
static void set_options(const struct covering_design *covering, uint64_t seed, struct moe_options *options)
{
    struct moe_problem *const problem = &options->problem;

    *options = moe_options_default();
    options->program.num_tokens = problem->num_tokens = covering_proposed_corner(covering, TOKENS);
    problem->hidden_size = (int)covering_proposed_corner(covering, HIDDEN);
    problem->intermediate_size = (int)covering_proposed_corner(covering, INTERMEDIATE);
    problem->num_experts = problem->num_local_experts = (int)covering_proposed_corner(covering, EXPERTS);
    problem->topk = (int)covering_proposed_corner(covering, TOPK);
    problem->dtype = covering_proposed_corner(covering, TYPE) == F32 ? DTYPE_F32 : DTYPE_BF16;
    options->is_bf16 = problem->dtype == DTYPE_BF16;
    problem->block_size = (int)covering_proposed_corner(covering, BLOCK_SIZE);
    options->block_size_given = problem->block_size > 0;
    options->dist = MOE_DIST_FIRST_GENERATED + (enum moe_routing_dist)covering_proposed_corner(covering, DIST);
    options->expert_map_option = covering_proposed_corner(covering, MAP) ? "random" : "none";
    options->hidden_scale = scales[covering_proposed_corner(covering, SCALE)];
    options->random_weight_signs = covering_proposed_corner(covering, SIGNED_WEIGHTS);
    options->program.num_launches = (int)covering_proposed_corner(covering, LAUNCHES);
    options->program.seed = seed + (uint64_t)covering->num_accepted_problems;
    options->hidden_size_given = options->intermediate_size_given = options->num_experts_given = true;
    options->topk_given = options->dist_given = options->program.num_tokens_given = true;
}

/** Checks that a problem, including its blocks of rows, is not too large. */
static bool is_small(const struct covering_design *covering, const struct moe_problem *problem)
{
    const int64_t elements = moe_w13_elements_per_expert(problem) + moe_w2_elements_per_expert(problem);
    const int64_t positions = moe_num_choices(problem), launches = covering_proposed_corner(covering, LAUNCHES);
    const int64_t groups = positions < problem->num_experts ? positions : problem->num_experts;
    const int64_t pads = groups * ((problem->block_size < TILE_ROWS ? problem->block_size : TILE_ROWS) - 1);
    const bool least = covering_proposed_corner(covering, TYPE) == TILED_BF16 && elements == LEAST_TILED &&
                       problem->num_tokens <= MOST_TILED_TOKENS;

    return ((launches * positions * elements <= MOST_PRODUCTS &&
             launches * (positions + pads) * elements <= MOST_PADDED_PRODUCTS) ||
            (least && launches == 1 && problem->topk == 1)) &&
           problem->num_experts * elements <= MOST_WEIGHTS &&
           (problem->capacity <= MOST_SLOTS || covering_proposal_has_isolated_corner(covering));
}

/** Checks that the problem is valid, supported and not too large. */
static bool is_worth_trying(const struct covering_design *covering, const struct moe_implementation *implementation,
                            const struct moe_options *options)
{
    struct moe_problem problem = options->problem;

    if (covering_proposed_corner(covering, TYPE) == TILED_BF16 &&
        (problem.hidden_size % 128 != 0 || problem.intermediate_size % 64 != 0 || problem.block_size != 0))
        return false;
    return moe_shape_check(&problem, &(struct error){0}) &&
           moe_set_block_size_and_capacity(&problem, implementation, problem.block_size, &(struct error){0}) &&
           is_small(covering, &problem) && !moe_unsupported_reason(implementation, &problem);
}

bool moe_options_set_next_problem(struct covering_design *covering, const struct moe_implementation *implementation,
                                  uint64_t seed, struct moe_options *options)
{
    while (covering_propose_problem(covering)) {
        set_options(covering, seed, options);
        if (is_worth_trying(covering, implementation, options))
            return true;
    }
    return false;
}
