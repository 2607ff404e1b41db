#include "harness/routing/run.h"

/** The dimensions: the gate's, then those of the row list. */
enum { BLOCK_SIZE = NUM_GATE_DIMENSIONS, MAP, LAUNCHES, NUM_DIMENSIONS };

static const struct covering_dimension own_dimensions[NUM_DIMENSIONS - NUM_GATE_DIMENSIONS] = {
    [BLOCK_SIZE - NUM_GATE_DIMENSIONS] = {CORNERS(16, 1, 2, 3, 7, 8, 31, 32, 33, 64, 127, 128, 129, 255, 256)},
    [MAP - NUM_GATE_DIMENSIONS] = {CORNERS(false, true)},
    [LAUNCHES - NUM_GATE_DIMENSIONS] = {CORNERS(1, 2, 3)},
};

void routing_start_covering_design(const struct routing_implementation *implementation, uint64_t seed,
                                   bool stop_after_corners, struct covering_design *covering)
{
    gate_start_covering_design(implementation->kernel_switch_tokens, seed, stop_after_corners, covering);
    covering_add_dimensions(covering, own_dimensions, NUM_DIMENSIONS - NUM_GATE_DIMENSIONS);
}

bool routing_options_set_next_problem(struct covering_design *covering,
                                      const struct routing_implementation *implementation, uint64_t seed,
                                      struct routing_options *options)
{
    while (covering_propose_problem(covering)) {
        struct routing_problem problem;

        options->align = (struct align_problem){.block_size = (int)covering_proposed_corner(covering, BLOCK_SIZE)};
        options->expert_map_option = covering_proposed_corner(covering, MAP) ? "random" : "none";
        if (!gate_options_set_proposed_problem(covering, implementation->kernel_switch_tokens, seed, &options->gate))
            continue;
        options->gate.program.num_launches = (int)covering_proposed_corner(covering, LAUNCHES);
        if (routing_problem_from_options(options, implementation, &problem, &(struct error){0}))
            return true;
    }
    return false;
}
