/** @file gate/options.h  A gate program's command line. */
#ifndef GATE_OPTIONS_H
#define GATE_OPTIONS_H

#include "harness/core/program.h"
#include "harness/gate/gate.h"
#include "harness/gate/input.h"

enum gate_source { GATE_SOURCE_ROUTER, GATE_SOURCE_FILE, GATE_SOURCE_GENERATED };
enum gate_bias { GATE_BIAS_DEFAULT, GATE_BIAS_NONE, GATE_BIAS_RANDOM, GATE_BIAS_FILE };

/** What was asked for. Strings belong to argv. */
struct gate_options {
    struct gate_problem problem;
    bool num_tokens_given;
    bool num_experts_given;
    bool dtype_given;
    bool bias_same; /**< --bias-dtype same */
    enum gate_source source;
    const char *logits_path; /**< GATE_SOURCE_FILE */
    enum gate_dist dist;     /**< GATE_SOURCE_GENERATED */
    enum gate_bias bias;
    const char *bias_path; /**< as given: "none", "random" or a file */
    struct program_options program;
};

/** What an empty command line asks for: the real router's logits. */
struct gate_options gate_options_default(void);

/**
 * Parses the command line; --help and --version print and exit. Returns false with one line that names the argument,
 * what was given and what is allowed.
 */
bool gate_options_parse(int argc, char **argv, const struct gate_chapter *chapter, struct gate_options *options,
                        struct error *error);

/** Writes the command that repeats this run, every choice spelled out. */
void gate_options_command(const struct gate_options *options, const char *program, char *text, size_t size);

/** Problem number 0, 1, ... of the grid, as options. False: there is none of this number, it was the last before it. */
bool gate_problem_to_try(int number, uint64_t seed, struct gate_options *options);

/** False for the few of them that make no sense, or are another one again. */
bool gate_problem_is_worth_trying(const struct gate_options *options);

#endif
