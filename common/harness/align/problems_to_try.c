#include "harness/align/options.h"

#include "harness/align/problem.h"

/**
 * The dimensions. align_start_covering_design() adds as corners the numbers of ids and experts at which an
 * implementation switches kernels.
 */
enum { IDS, EXPERTS, TOPK, BLOCK_SIZE, WIDE_IDS, KERNEL, MISALIGN, DIST, MAP, ROOM, LAUNCHES, NUM_DIMENSIONS };

static const struct covering_dimension dimensions[NUM_DIMENSIONS] = {
    /* every residue modulo 32; the last values need 16 or 17 bits */
    [IDS] = {CORNERS(128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                     26, 27, 28, 29, 30, 31, 32, 33, 63, 64, 65, 66, 127, 129, 255, 256, 257, 511, 512, 513, 1023, 1024,
                     1025, 65535, 65536, 65537),
             .num_isolated_corners = 3},
    [EXPERTS] = {CORNERS(256, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129,
                         160, 255, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 11776, 12255),
                 .num_isolated_corners = 2},
    [TOPK] = {CORNERS(1, 2, 3, 4, 5, 6, 7, 8, 16, 32)},
    [BLOCK_SIZE] = {CORNERS(16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 17, 31, 32, 33, 48, 63, 64, 65, 127, 128, 129, 192, 255,
                            256, 512, 513)},
    [WIDE_IDS] = {CORNERS(false, true)},
    [KERNEL] = {CORNERS(ALIGN_KERNEL_AUTO, ALIGN_KERNEL_LARGE, ALIGN_KERNEL_SMALL)},
    [MISALIGN] = {CORNERS(0, 1, 2, 3)},
    [DIST] = {CORNERS(ALIGN_DIST_UNIFORM, ALIGN_DIST_BALANCED, ALIGN_DIST_ZIPF, ALIGN_DIST_ONE_EXPERT,
                      ALIGN_DIST_SPARSE, ALIGN_DIST_REPEATED, ALIGN_DIST_INVALID)},
    [MAP] = {CORNERS(false, true)},
    [ROOM] = {CORNERS(ALIGN_CAPACITY_DEFAULT, ALIGN_CAPACITY_MINIMUM, ALIGN_CAPACITY_ABOVE_DEFAULT)},
    [LAUNCHES] = {CORNERS(1, 2, 3)},
};

/*
 * Maximum number of slots in a problem with an isolated corner and in any other problem; number of ids above which a
 * corner is isolated.
 */
enum { MOST_SLOTS_ALONE = 1 << 20, MOST_SLOTS = 1 << 17, IDS_ALONE = 8192 };

/** Adds `last` and last + 1 as corners; each corner above `most` is isolated. */
static void add_both_sides(struct covering_design *covering, int dimension, int64_t last, int64_t most)
{
    covering_add_corner(covering, dimension, last, last > most);
    covering_add_corner(covering, dimension, last + 1, last + 1 > most);
}

void align_start_covering_design(const struct align_implementation *implementation, uint64_t seed,
                                 bool stop_after_corners, struct covering_design *covering)
{
    covering_start(covering, dimensions, NUM_DIMENSIONS, seed, stop_after_corners);
    for (int i = 0; i < ALIGN_MAX_KERNEL_SWITCHES && implementation->kernel_switch_ids[i] > 0; i++)
        add_both_sides(covering, IDS, implementation->kernel_switch_ids[i], IDS_ALONE);
    for (int i = 0; i < ALIGN_MAX_KERNEL_SWITCHES && implementation->kernel_switch_experts[i] > 0; i++)
        add_both_sides(covering, EXPERTS, implementation->kernel_switch_experts[i], INT64_MAX);
}

/** Sets the options to the proposed problem. */
static void set_options(const struct covering_design *covering, uint64_t seed, struct align_options *options)
{
    *options = align_options_default();
    options->topk = (int)covering_proposed_corner(covering, TOPK);
    options->program.num_tokens = covering_proposed_corner(covering, IDS) / options->topk;
    options->program.num_tokens_given = true;
    options->program.num_launches = (int)covering_proposed_corner(covering, LAUNCHES);
    options->program.seed = seed + (uint64_t)covering->num_accepted_problems;
    options->problem.numel = covering_proposed_corner(covering, IDS);
    options->problem.num_experts = (int)covering_proposed_corner(covering, EXPERTS);
    options->problem.block_size = (int)covering_proposed_corner(covering, BLOCK_SIZE);
    options->problem.wide_ids = covering_proposed_corner(covering, WIDE_IDS);
    options->problem.kernel = (enum align_kernel_choice)covering_proposed_corner(covering, KERNEL);
    options->misalign_words = (int)covering_proposed_corner(covering, MISALIGN);
    options->source = ALIGN_ID_SOURCE_GENERATED;
    options->dist = (enum align_dist)covering_proposed_corner(covering, DIST);
    options->expert_map_option = covering_proposed_corner(covering, MAP) ? "random" : "none";
    options->capacity_policy = (enum align_capacity_policy)covering_proposed_corner(covering, ROOM);
}

/** Checks that the problem is valid, supported and not too large. */
static bool is_worth_trying(const struct covering_design *covering, const struct align_implementation *implementation,
                            const struct align_options *options)
{
    struct align_problem problem = options->problem;

    if (problem.numel % options->topk != 0 || !align_shape_check(&problem, &(struct error){0}))
        return false;
    problem.capacity = options->capacity_policy == ALIGN_CAPACITY_MINIMUM
                           ? align_worst_case_capacity_capped_by_ids(&problem)
                           : implementation->capacity(&problem);
    return problem.capacity <= (covering_proposal_has_isolated_corner(covering) ? MOST_SLOTS_ALONE : MOST_SLOTS) &&
           align_problem_check(&problem, &(struct error){0}) && !align_unsupported_reason(implementation, &problem);
}

bool align_options_set_next_problem(struct covering_design *covering, const struct align_implementation *implementation,
                                    uint64_t seed, struct align_options *options)
{
    while (covering_propose_problem(covering)) {
        set_options(covering, seed, options);
        if (is_worth_trying(covering, implementation, options))
            return true;
    }
    return false;
}
