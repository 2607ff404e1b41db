#include "harness/gate/options.h"

#include "harness/gate/problem.h"

/**
 * The dimensions. gate_start_covering_design() adds as corners the numbers of tokens at which the implementation
 * switches kernels.
 */
enum { SHAPE, TOKENS, DIST, DTYPE, BIAS, SCORE, RENORMALIZE, FACTOR, SCALE_LATER, SHARED_EXPERTS };

enum { BIAS_NONE, BIAS_F32, BIAS_SAME };

/* Initialises a problem's numbers of experts, groups, kept groups and experts per token. */
#define SHAPE(experts, groups, kept, chosen)                                                   \
    {                                                                                          \
        .num_experts = experts, .num_expert_group = groups, .topk_group = kept, .topk = chosen \
    }

/*
 * The first shapes are the routers for which some chapters have specialised kernels, beginning with the one that is
 * fastest to check. The others are shapes of other models, groups of 1 to 33 experts, 1 to 33 groups, one kept group
 * and all groups kept, expert counts around 256, and ids of 17 bits.
 */
static const struct gate_problem shapes[] = {
    SHAPE(128, 4, 2, 4),    SHAPE(256, 8, 4, 8),   SHAPE(256, 16, 4, 8), SHAPE(128, 8, 8, 8),   SHAPE(512, 16, 8, 16),
    SHAPE(256, 8, 4, 7),    SHAPE(128, 4, 2, 6),   SHAPE(160, 8, 3, 6),  SHAPE(384, 16, 5, 7),  SHAPE(64, 1, 1, 6),
    SHAPE(64, 4, 3, 5),     SHAPE(64, 2, 1, 18),   SHAPE(64, 2, 2, 32),  SHAPE(1, 1, 1, 1),     SHAPE(2, 1, 1, 1),
    SHAPE(2, 2, 1, 1),      SHAPE(3, 1, 1, 2),     SHAPE(4, 2, 2, 3),    SHAPE(6, 3, 3, 1),     SHAPE(10, 2, 1, 4),
    SHAPE(12, 12, 5, 5),    SHAPE(14, 2, 2, 13),   SHAPE(32, 4, 2, 8),   SHAPE(36, 4, 3, 19),   SHAPE(40, 8, 8, 3),
    SHAPE(30, 2, 1, 15),    SHAPE(31, 1, 1, 31),   SHAPE(32, 1, 1, 32),  SHAPE(33, 1, 1, 33),   SHAPE(32, 32, 31, 7),
    SHAPE(34, 2, 1, 16),    SHAPE(62, 2, 2, 20),   SHAPE(66, 33, 17, 9), SHAPE(96, 32, 7, 11),  SHAPE(255, 15, 8, 9),
    SHAPE(255, 17, 16, 32), SHAPE(256, 32, 1, 8),  SHAPE(257, 1, 1, 12), SHAPE(248, 8, 4, 14),  SHAPE(1024, 32, 32, 32),
    SHAPE(512, 8, 4, 8),    SHAPE(544, 17, 9, 10), SHAPE(44, 2, 2, 17),  SHAPE(26, 1, 1, 21),   SHAPE(48, 2, 1, 22),
    SHAPE(56, 2, 1, 23),    SHAPE(28, 4, 4, 24),   SHAPE(100, 4, 2, 25), SHAPE(72, 4, 2, 26),   SHAPE(27, 1, 1, 27),
    SHAPE(88, 4, 2, 28),    SHAPE(29, 1, 1, 29),   SHAPE(120, 8, 2, 30), SHAPE(65600, 8, 2, 8),
};

/* The kernels for the first shapes support only sigmoid, so SCORE takes no other value with these shapes. */
enum { NUM_SHAPES = sizeof shapes / sizeof *shapes, NUM_ROUTERS = 5 };

static const float factors[] = {2.5f, 1.0f, 0.0f, -1.5f, 1e30f, -1e-30f};

const struct covering_dimension gate_covering_dimensions[NUM_GATE_DIMENSIONS] = {
    [SHAPE] = {CORNERS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
                       27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50,
                       51, 52, NUM_SHAPES - 1),
               .num_isolated_corners = 1},
    /* from 9 tokens on, nan has a row of each kind; every residue modulo 32; the last values need 16 or 17 bits */
    [TOKENS] = {CORNERS(19, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21, 22, 23, 24, 25,
                        26, 27, 28, 29, 30, 31, 32, 33, 127, 128, 129, 65535, 65536, 65537),
                .num_isolated_corners = 3},
    [DIST] = {CORNERS(GATE_DIST_NORMAL, GATE_DIST_UNIFORM, GATE_DIST_ZIPF, GATE_DIST_TIES, GATE_DIST_EQUAL,
                      GATE_DIST_EXTREME, GATE_DIST_NAN)},
    [DTYPE] = {CORNERS(DTYPE_F32, DTYPE_F16, DTYPE_BF16)},
    [BIAS] = {CORNERS(BIAS_F32, BIAS_NONE, BIAS_SAME)},
    [SCORE] = {CORNERS(GATE_SCORE_SIGMOID, GATE_SCORE_SOFTMAX, GATE_SCORE_NONE)},
    [RENORMALIZE] = {CORNERS(true, false)},
    [FACTOR] = {CORNERS(0, 1, 2, 3, 4, 5)},
    [SCALE_LATER] = {CORNERS(false, true)},
    [SHARED_EXPERTS] = {CORNERS(0, 1, 3, 9)},
};

_Static_assert(SHARED_EXPERTS + 1 == NUM_GATE_DIMENSIONS && NUM_SHAPES == 54, "every dimension, every shape");

void gate_start_covering_design(const int64_t kernel_switch_tokens[GATE_MAX_KERNEL_SWITCHES], uint64_t seed,
                                bool stop_after_corners, struct covering_design *covering)
{
    covering_start(covering, gate_covering_dimensions, NUM_GATE_DIMENSIONS, seed, stop_after_corners);
    for (int i = 0; i < GATE_MAX_KERNEL_SWITCHES && kernel_switch_tokens[i] > 0; i++) {
        covering_add_corner(covering, TOKENS, kernel_switch_tokens[i], false);
        covering_add_corner(covering, TOKENS, kernel_switch_tokens[i] + 1, false);
    }
}

/**
 * Returns the largest number of logits that the problem may have. The limit is higher at a number of tokens where the
 * implementation switches kernels, but 0 there if the shape is not one of the routers.
 */
static int64_t most_logits(const struct covering_design *covering, const int64_t last_tokens[GATE_MAX_KERNEL_SWITCHES])
{
    const int64_t num_tokens = covering_proposed_corner(covering, TOKENS);
    const bool is_router = covering_proposed_corner(covering, SHAPE) < NUM_ROUTERS;
    bool changes = false;

    for (int i = 0; i < GATE_MAX_KERNEL_SWITCHES && last_tokens[i] > 0; i++)
        changes |= num_tokens == last_tokens[i] || num_tokens == last_tokens[i] + 1;
    if (covering_proposal_has_isolated_corner(covering))
        return changes && num_tokens == 65537 ? 65537 * 128 : 65537;
    return !changes ? 129 * 256 : is_router ? 964 * 512 : 0;
}

/** Sets the problem's shape, except the number of tokens. */
static void set_shape(const struct covering_design *covering, struct gate_problem *problem)
{
    *problem = shapes[covering_proposed_corner(covering, SHAPE)];
    problem->dtype = (enum dtype)covering_proposed_corner(covering, DTYPE);
    problem->score = (enum gate_score)covering_proposed_corner(covering, SCORE);
    problem->renormalize = covering_proposed_corner(covering, RENORMALIZE);
    problem->routed_scaling_factor = factors[covering_proposed_corner(covering, FACTOR)];
    problem->scale_later = covering_proposed_corner(covering, SCALE_LATER);
    problem->num_fused_shared_experts = (int)covering_proposed_corner(covering, SHARED_EXPERTS);
}

/** Sets what gate_prepare_problem_and_tensors() would set, so that the problem can be checked before that. */
static void set_sizes(struct gate_options *options)
{
    struct gate_problem *const problem = &options->problem;

    problem->num_tokens = options->program.num_tokens;
    problem->has_bias = parse_array_source(options->bias_option) != ARRAY_SOURCE_NONE;
    problem->bias_dtype = options->bias_has_logits_dtype ? problem->dtype : DTYPE_F32;
}

bool gate_options_set_proposed_problem(const struct covering_design *covering,
                                       const int64_t kernel_switch_tokens[GATE_MAX_KERNEL_SWITCHES], uint64_t seed,
                                       struct gate_options *options)
{
    const int64_t bias = covering_proposed_corner(covering, BIAS);
    const struct gate_problem *const problem = &options->problem;

    *options = (struct gate_options){
        .program = {.num_tokens = covering_proposed_corner(covering, TOKENS),
                    .num_tokens_given = true,
                    .seed = seed + (uint64_t)covering->num_accepted_problems},
        .source = GATE_LOGITS_SOURCE_GENERATED,
        .dist = (enum gate_dist)covering_proposed_corner(covering, DIST),
        .bias_option = bias == BIAS_NONE ? "none" : "random",
        .bias_has_logits_dtype = bias == BIAS_SAME,
    };
    set_shape(covering, &options->problem);
    set_sizes(options);
    return gate_problem_check(problem, &(struct error){0}) &&
           problem->num_tokens * problem->num_experts <= most_logits(covering, kernel_switch_tokens) &&
           !(covering_proposed_corner(covering, SHAPE) < NUM_ROUTERS && problem->score != GATE_SCORE_SIGMOID) &&
           !(options->bias_has_logits_dtype && problem->dtype == DTYPE_F32);
}

bool gate_options_set_next_problem(struct covering_design *covering, const struct gate_implementation *implementation,
                                   uint64_t seed, struct gate_options *options)
{
    while (covering_propose_problem(covering))
        if (gate_options_set_proposed_problem(covering, implementation->kernel_switch_tokens, seed, options) &&
            !gate_unsupported_reason(implementation, &options->problem))
            return true;
    return false;
}
