/** @file align/options.h  The command line of an align program. */
#ifndef ALIGN_OPTIONS_H
#define ALIGN_OPTIONS_H

#include "harness/align/align.h"
#include "harness/align/input.h"
#include "harness/core/program.h"

enum align_id_source {
    ALIGN_ID_SOURCE_ROUTER,
    ALIGN_ID_SOURCE_FILE,
    ALIGN_ID_SOURCE_GENERATED,
    ALIGN_ID_SOURCE_COUNTS
};

/* Number of 4-byte words in 16 bytes, because only the offset of sorted_token_ids from a 16-byte boundary matters. */
enum { NUM_ALIGN_MISALIGNMENTS = 4 };

/**
 * The capacity that --room selects: the implementation's default, the minimum for the given ids, or more than the
 * default.
 */
enum align_capacity_policy { ALIGN_CAPACITY_DEFAULT, ALIGN_CAPACITY_MINIMUM, ALIGN_CAPACITY_ABOVE_DEFAULT };

/** The options of a run. Strings point into argv. */
struct align_options {
    struct program_options program;
    struct align_problem
        problem; /**< align_prepare_problem_and_tensors() sets numel and, if --capacity is not given, the capacity */
    int topk;
    bool num_experts_given;
    bool topk_given;
    bool ids_given;
    bool capacity_given;
    int misalign_words; /**< offset of sorted_token_ids from a 16-byte boundary, in words */
    enum align_id_source source;
    const char *ids_path;                       /**< ALIGN_ID_SOURCE_FILE */
    enum align_dist dist;                       /**< ALIGN_ID_SOURCE_GENERATED */
    const char *counts_list;                    /**< ALIGN_ID_SOURCE_COUNTS: comma-separated list */
    const char *expert_map_option;              /**< value of --expert-map: "none", "random" or a file name */
    enum align_capacity_policy capacity_policy; /**< capacity to use once the ids are known */
};

/**
 * Parses the command line; --help and --version print and exit. On failure returns false with a one-line error that
 * names the argument, its value and the allowed values.
 */
bool align_options_parse(struct program *program, int argc, char **argv, struct align_options *options);

/** Returns the options of an empty command line, for which the input is the real router's choices. */
struct align_options align_options_default(void);

/** The names "auto", "large", "small", in the order of the enum, NULL-terminated. */
extern const char *const align_kernel_names[];

/** The names "bound", "exact", "spare", in the order of the enum, NULL-terminated. */
extern const char *const align_capacity_policy_names[];

/** Returns one word for the source of the ids: "router", "file", "counts", or the distribution's name. */
const char *align_id_source_name(const struct align_options *options);

/** Sets program->command to a command that reproduces this run, with every option given explicitly. */
void align_options_set_command(const struct align_options *options, struct program *program);

/** Starts the covering design of --check-all for an implementation. */
void align_start_covering_design(const struct align_implementation *implementation, uint64_t seed,
                                 bool stop_after_corners, struct covering_design *covering);

/**
 * Sets the options to the next problem that the implementation supports; the caller accepts it with
 * covering_accept_problem(). Returns false if no problem is left.
 */
bool align_options_set_next_problem(struct covering_design *covering, const struct align_implementation *implementation,
                                    uint64_t seed, struct align_options *options);

#endif
