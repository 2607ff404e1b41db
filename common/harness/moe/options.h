/** @file moe/options.h  A layer program's command line. */
#ifndef MOE_OPTIONS_H
#define MOE_OPTIONS_H

#include "harness/align/input.h"
#include "harness/core/program.h"
#include "harness/moe/moe.h"

/** Which experts generated tokens go to: what the real router chose, or one of align's distributions. */
enum moe_dist { MOE_DIST_ROUTER, MOE_DIST_GENERATED, MOE_DIST_COUNT = MOE_DIST_GENERATED + ALIGN_DIST_INVALID };

/** The dimensions of the layer, which options and files give. */
enum { MOE_TOKENS, MOE_HIDDEN_SIZE, MOE_INTERMEDIATE_SIZE, MOE_EXPERTS, MOE_TOPK, NUM_MOE_DIMENSIONS };

/** The arrays that may come from files. */
enum { MOE_FILE_HIDDEN, MOE_FILE_W13, MOE_FILE_W2, MOE_FILE_TOPK_IDS, MOE_FILE_TOPK_WEIGHTS, NUM_MOE_FILES };

/** What was asked for. Strings belong to argv. */
struct moe_options {
    struct program_options program;
    struct moe_problem problem; /**< settled by moe_load(): what is not given is the input's, or a default */
    bool hidden_size_given;
    bool intermediate_size_given;
    bool num_experts_given;
    bool topk_given;
    bool bf16; /**< as --dtype says */
    bool block_size_given;
    bool dist_given;
    enum moe_dist dist;
    const char *files[NUM_MOE_FILES]; /**< paths, or NULL: generated */
    const char *map;                  /**< as given: "none", "random" or a file */
};

/** The option of a file, "topk-ids", and so on, in the order of the enum. */
extern const char *const moe_file_flags[NUM_MOE_FILES];

/** What an empty command line asks for, as far as it does not depend on the device. */
struct moe_options moe_options_default(void);

/**
 * Parses the command line; --help and --version print and exit. Returns false with one line that names the argument,
 * what was given and what is allowed.
 */
bool moe_options_parse(struct program *program, int argc, char **argv, struct moe_options *options);

/** The rows of a layer's options, for a table that begins with more. */
extern const struct option_row moe_option_rows[];

/** A choice of experts is given once, and nothing is traced for no tokens. False, naming the option. */
bool moe_options_check(const struct moe_options *options, struct error *error);

/** What decides which options repeat this run. */
unsigned moe_options_traits(const struct moe_options *options, const struct program *program);

/** One word for who chooses the experts: the distribution's name, or "file". */
const char *moe_source_name(const struct moe_options *options);

/** Makes program->command the one that repeats this run, every choice spelled out. */
void moe_options_command(const struct moe_options *options, struct program *program);

/**
 * Adds the problem that was run, which files may have made another than the options': all of it, or, for a benchmark,
 * what does not change from row to row.
 */
void moe_report_problem(const struct moe_options *options, const struct moe_problem *problem, bool all,
                        struct record *report);

/** Problem number 0, 1, ..., as options with check_all. False: there is none of this number, it was the last before. */
bool moe_problem_to_try(int number, uint64_t seed, struct moe_options *options);

#endif
