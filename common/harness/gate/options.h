/** @file gate/options.h  A gate program's command line. */
#ifndef GATE_OPTIONS_H
#define GATE_OPTIONS_H

#include "harness/core/program.h"
#include "harness/gate/gate.h"
#include "harness/gate/input.h"

enum gate_source { GATE_SOURCE_ROUTER, GATE_SOURCE_FILE, GATE_SOURCE_GENERATED };

/** What was asked for. Strings belong to argv. */
struct gate_options {
    struct program_options program;
    struct gate_problem problem; /**< its tokens and its bias are settled by gate_load() */
    bool num_experts_given;
    bool dtype_given;
    bool bias_same; /**< --bias-dtype same */
    enum gate_source source;
    const char *input_flag;  /**< GATE_SOURCE_ROUTER: without its data the user is told to use this one */
    const char *logits_path; /**< GATE_SOURCE_FILE */
    enum gate_dist dist;     /**< GATE_SOURCE_GENERATED */
    const char *bias;        /**< as given: "none", "random", a file; NULL: the router's own, else random */
};

/** What an empty command line asks for: the real router's logits. */
struct gate_options gate_options_default(void);

/**
 * Parses the command line; --help and --version print and exit. Returns false with one line that names the argument,
 * what was given and what is allowed.
 */
bool gate_options_parse(struct program *program, int argc, char **argv, struct gate_options *options);

/** The rows of the table that it is parsed by: the table of an operator whose options begin with these goes on here. */
extern const struct option_row gate_option_rows[];

/** What decides which of these rows repeat this run. */
unsigned gate_options_traits(const struct gate_options *options, const struct program *program);

/** Makes program->command the one that repeats this run, every choice spelled out. */
void gate_options_command(const struct gate_options *options, struct program *program);

/**
 * Problem number 0, 1, ... of the grid, as options, or the next that makes sense and is not another one again: then
 * *number is its number. False: there is none, it was the last before it.
 */
bool gate_problem_to_try(int *number, uint64_t seed, struct gate_options *options);

#endif
