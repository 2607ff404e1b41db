/** @file gate/options.h  The command line of a gate program. */
#ifndef GATE_OPTIONS_H
#define GATE_OPTIONS_H

#include "harness/core/program.h"
#include "harness/gate/gate.h"
#include "harness/gate/input.h"

enum gate_logits_source { GATE_LOGITS_SOURCE_ROUTER, GATE_LOGITS_SOURCE_FILE, GATE_LOGITS_SOURCE_GENERATED };

/** The options of a run. Strings point into argv. */
struct gate_options {
    struct program_options program;
    struct gate_problem
        problem; /**< the problem; gate_prepare_problem_and_tensors() sets its number of tokens and its bias */
    bool num_experts_given;
    bool dtype_given;
    bool bias_has_logits_dtype; /**< --bias-dtype same */
    enum gate_logits_source source;
    const char *
        /** GATE_LOGITS_SOURCE_ROUTER: the option that the error suggests if its data are missing. */
        option_to_suggest_without_router_data;
    const char *logits_path; /**< GATE_LOGITS_SOURCE_FILE */
    enum gate_dist dist;     /**< GATE_LOGITS_SOURCE_GENERATED */
    const char *bias_option; /**< value of --bias: "none", "random" or a file; NULL if not given */
};

/** Returns the options of an empty command line, for which the input is the real router's logits. */
struct gate_options gate_options_default(void);

/**
 * Parses the command line; --help and --version print and exit. On failure returns false with a one-line error that
 * names the argument, its value and the allowed values.
 */
bool gate_options_parse(struct program *program, int argc, char **argv, struct gate_options *options);

/** The rows of the option table, for an operator whose options begin with a gate's. */
extern const struct option_row gate_option_rows[];

/** Returns this run's traits, which select the options in the command that reproduces the run. */
unsigned gate_options_run_trait_mask(const struct gate_options *options, const struct program *program);

/** Sets program->command to a command that reproduces this run, with every option given explicitly. */
void gate_options_set_command(const struct gate_options *options, struct program *program);

/**
 * Starts the covering design of --check-all for an implementation that switches kernels above each of these numbers of
 * tokens.
 */
void gate_start_covering_design(const int64_t kernel_switch_tokens[GATE_MAX_KERNEL_SWITCHES], uint64_t seed,
                                bool stop_after_corners, struct covering_design *covering);

/** Number of dimensions of a gate problem; in an operator that begins with a gate, these dimensions come first. */
enum { NUM_GATE_DIMENSIONS = 10 };
extern const struct covering_dimension gate_covering_dimensions[NUM_GATE_DIMENSIONS];

/** Sets the options to the proposed problem. Returns false if the problem is invalid, too large, or a duplicate. */
bool gate_options_set_proposed_problem(const struct covering_design *covering,
                                       const int64_t kernel_switch_tokens[GATE_MAX_KERNEL_SWITCHES], uint64_t seed,
                                       struct gate_options *options);

/**
 * Sets the options to the next problem that the implementation supports; the caller accepts it with
 * covering_accept_problem(). Returns false if no problem is left.
 */
bool gate_options_set_next_problem(struct covering_design *covering, const struct gate_implementation *implementation,
                                   uint64_t seed, struct gate_options *options);

#endif
