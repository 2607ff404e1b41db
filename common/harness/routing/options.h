/** @file routing/options.h  A routing program's command line: the gate's, and what align needs besides. */
#ifndef ROUTING_OPTIONS_H
#define ROUTING_OPTIONS_H

#include "harness/gate/options.h"
#include "harness/routing/routing.h"

/** What was asked for. Strings belong to argv. */
struct routing_options {
    struct gate_options gate;   /**< the first member: its rows of the table are the gate's own */
    struct align_problem align; /**< all but block_size is settled by routing_load() */
    const char *map;            /**< as given: "none", "random" or a file */
};

/**
 * Parses the command line; --help and --version print and exit. Returns false with one line that names the argument,
 * what was given and what is allowed.
 */
bool routing_options_parse(struct program *program, int argc, char **argv, struct routing_options *options);

/** Makes program->command the one that repeats this run, every choice spelled out. */
void routing_options_command(const struct routing_options *options, struct program *program);

/** As gate_problem_to_try(), whose problems these are; the block size and the map follow from the number. */
bool routing_problem_to_try(int *number, uint64_t seed, struct routing_options *options);

#endif
