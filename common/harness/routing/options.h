/** @file routing/options.h  The command line of a routing program: the gate's options and align's. */
#ifndef ROUTING_OPTIONS_H
#define ROUTING_OPTIONS_H

#include "harness/gate/options.h"
#include "harness/routing/routing.h"

/** The options of a run. Strings point into argv. */
struct routing_options {
    struct gate_options gate; /**< must be the first member, because the gate's option rows set its fields */
    /** Align's part of the problem; routing_prepare_problem_and_tensors() sets all members except block_size. */
    struct align_problem align;
    const char *expert_map_option; /**< value of --expert-map: "none", "random" or a file */
};

/**
 * Parses the command line; --help and --version print and exit. On failure returns false with a one-line error that
 * names the argument, its value and the allowed values.
 */
bool routing_options_parse(struct program *program, int argc, char **argv, struct routing_options *options);

/** Sets program->command to a command that reproduces this run, with every option given explicitly. */
void routing_options_set_command(const struct routing_options *options, struct program *program);

/** Starts the covering design of --check-all for an implementation. */
void routing_start_covering_design(const struct routing_implementation *implementation, uint64_t seed,
                                   bool stop_after_corners, struct covering_design *covering);

/**
 * Sets the options to the next problem that the implementation supports; the caller accepts it with
 * covering_accept_problem(). Returns false if no problem is left.
 */
bool routing_options_set_next_problem(struct covering_design *covering,
                                      const struct routing_implementation *implementation, uint64_t seed,
                                      struct routing_options *options);

#endif
