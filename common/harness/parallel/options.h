/** @file parallel/options.h  The command line of a layer on several ranks. */
#ifndef PARALLEL_OPTIONS_H
#define PARALLEL_OPTIONS_H

#include "harness/moe/options.h"

/** The ways in which tokens reach their experts. */
enum dispatch { DISPATCH_BROADCAST, DISPATCH_ALL_TO_ALL, NUM_DISPATCHES };

/** Words of --dispatch, in the order of the enum; NULL-terminated. */
extern const char *const dispatch_names[];

/** The options of a run, whose first member is a layer's options. Strings point into argv. */
struct parallel_options {
    struct moe_options moe;
    int dp_size, tp_size, ep_size; /**< numbers of TP groups, their ranks, and expert parts; 0 if not given */
    const char *tokens_per_group_list;
    enum dispatch dispatch;
    int timeout_seconds, num_gpus, num_repeats;
    bool num_repeats_given;
};

/**
 * Parses the command line; --help and --version print and exit. On failure returns false with a one-line error that
 * names the argument, its value and the allowed values.
 */
bool parallel_options_parse(struct program *program, int argc, char **argv, struct parallel_options *options);

/**
 * Sets program->command to a command that reproduces a run of num_ranks ranks; the command begins with mpirun if mpirun
 * started the ranks.
 */
void parallel_options_set_command(const struct parallel_options *options, int num_ranks, struct program *program);

#endif
