/** @file moe/options.h  The command line of a layer program. */
#ifndef MOE_OPTIONS_H
#define MOE_OPTIONS_H

#include "harness/align/input.h"
#include "harness/core/program.h"
#include "harness/moe/moe.h"

/** The source of generated tokens' experts: the real router's choices, or one of align's distributions. */
enum moe_routing_dist {
    MOE_DIST_ROUTER,
    MOE_DIST_FIRST_GENERATED,
    NUM_MOE_DISTS = MOE_DIST_FIRST_GENERATED + ALIGN_DIST_INVALID
};

/** The dimensions of the layer that options and files set. */
enum {
    MOE_DIMENSION_TOKENS,
    MOE_DIMENSION_HIDDEN_SIZE,
    MOE_DIMENSION_INTERMEDIATE_SIZE,
    MOE_DIMENSION_EXPERTS,
    MOE_DIMENSION_TOPK,
    NUM_MOE_DIMENSIONS
};

/** The arrays that may come from files. */
enum { MOE_FILE_HIDDEN, MOE_FILE_W13, MOE_FILE_W2, MOE_FILE_TOPK_IDS, MOE_FILE_TOPK_WEIGHTS, NUM_MOE_FILES };

/** The options of a run. Strings point into argv. */
struct moe_options {
    struct program_options program;
    struct moe_problem
        problem; /**< the problem, which moe_prepare_problem_and_tensors() completes from the input and from defaults */
    bool hidden_size_given;
    bool intermediate_size_given;
    bool num_experts_given;
    bool topk_given;
    bool is_bf16; /**< whether --dtype selects bf16 */
    bool block_size_given;
    bool dist_given;
    enum moe_routing_dist dist;
    const char *file_paths[NUM_MOE_FILES]; /**< paths; NULL if the array is generated */
    const char *expert_map_option;         /**< value of --expert-map: "none", "random" or a file */
    float hidden_scale;                    /**< scale of generated tokens */
    bool random_weight_signs;              /**< whether generated topk_weights have random signs */
};

/** The options that name the files, "hidden", ..., "topk-weights", in the order of the enum. */
extern const char *const moe_file_flags[NUM_MOE_FILES];

/** Returns the options of an empty command line, except for those that depend on the device. */
struct moe_options moe_options_default(void);

/**
 * Parses the command line; --help and --version print and exit. On failure returns false with a one-line error that
 * names the argument, its value and the allowed values.
 */
bool moe_options_parse(struct program *program, int argc, char **argv, struct moe_options *options);

/** The rows of a layer's options, for a table that begins with other rows. */
extern const struct option_row moe_option_rows[];

/**
 * Checks that only one option determines the experts, and that --trace is not given without tokens. On failure the
 * error names the option.
 */
bool moe_options_check_conflicts(const struct moe_options *options, struct error *error);

/** Returns whether any part of the run's input depends on --seed. */
bool moe_input_depends_on_seed(const struct moe_options *options);

/** Returns this run's traits, which select the options in the command that reproduces the run. */
unsigned moe_options_run_trait_mask(const struct moe_options *options, const struct program *program);

/** Returns one word for the source of the experts: the distribution's name, or "file". */
const char *moe_routing_source_name(const struct moe_options *options);

/** Describes the input for the report: the source of the experts, that of the arrays, and the seed, if it is used. */
void moe_describe_input(const struct moe_options *options, char *text, size_t size);

/** Sets program->command to a command that reproduces this run, with every option given explicitly. */
void moe_options_set_command(const struct moe_options *options, struct program *program);

/**
 * Adds the run's problem, which may differ from the options' problem because of files, to the report: all of it or, in
 * a benchmark, the part that is the same in every row.
 */
void moe_report_problem(const struct moe_options *options, const struct moe_problem *problem,
                        bool with_fields_that_vary_by_row, struct record *report);

/** Starts the covering design of --check-all for an implementation. */
void moe_start_covering_design(const struct moe_implementation *implementation, uint64_t seed, bool stop_after_corners,
                               struct covering_design *covering);

/**
 * Sets the options to the next problem that the implementation supports; the caller accepts it with
 * covering_accept_problem(). Returns false if no problem is left.
 */
bool moe_options_set_next_problem(struct covering_design *covering, const struct moe_implementation *implementation,
                                  uint64_t seed, struct moe_options *options);

#endif
