/**
 * @file core/program.h
 * @brief The parts that the programs of all operators share: options, a run and its files, the report, the exit code.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "base/record.h"
#include "harness/core/backend.h"
#include "harness/core/bench.h"
#include "harness/core/covering.h"
#include "harness/core/tensor.h"
#include "harness/core/option.h"
#include "harness/core/run.h"

/**
 * The options that every operator has; they are the first member of an operator's own options. Strings point into argv.
 */
struct program_options {
    int64_t num_tokens;
    bool num_tokens_given;
    uint64_t seed;
    bool seed_given;
    const char *output_directory; /**< output directory, or NULL */
    const char *trace_path;       /**< trace file, or NULL */
    const char *trace_kernel;     /**< the kernel whose first launch is traced; NULL for any kernel */
    enum record_format format;
    bool check_all;
    bool check_only_corners;  /**< with check_all: whether to stop as soon as every corner is in a problem */
    int check_one_problem_in; /**< N: check_all verifies one problem in N; 0 counts as 1 */
    int num_launches;         /**< number of launches with the same workspace; 0 counts as 1 */
    bool bench;
    bool flush_l2;
};

/**
 * Traits of a run; they select the options in the command that reproduces the run. An operator's own traits begin at
 * FIRST_OPERATOR_TRAIT.
 */
enum { TRAIT_HAS_NUM_TOKENS = 2, TRAIT_USES_SEED = 4, FIRST_OPERATOR_TRAIT = 8, TRAIT_HAS_SEVERAL_LAUNCHES = 1 << 30 };

/**
 * The rows of --seed, --launches, --check-corners, --check-share, --format, --bench, --flush-l2, --trace and
 * --trace-kernel. The table with an operator's other options continues with these rows.
 */
extern const struct option_row program_option_rows[];

/** The kind of source that an option names for an input array. */
enum array_source { ARRAY_SOURCE_NOT_GIVEN, ARRAY_SOURCE_NONE, ARRAY_SOURCE_RANDOM, ARRAY_SOURCE_FILE };

/** Returns the kind of source that `text`, an option's value or NULL, names. */
enum array_source parse_array_source(const char *text);

/** Checks that the file that the option --`flag` names exists; if not, the error lists what else the option may be. */
bool array_file_check_exists(const char *flag, const char *path, struct error *error);

/** SHA-256 of the kernel's source. A file that the build generates defines this string. */
extern const char kernel_source_sha256[];

/**
 * A chapter's program. Its main() sets the first group of members, and the operator sets the last group for each run;
 * all other members are initially zero. A program runs its implementation once, with --check-all on many problems, or
 * with --bench on a list of sizes.
 */
struct program {
    const char *path;          /**< argv[0] */
    const char *name;          /**< the chapter's name */
    const char *previous_name; /**< the previous chapter's name; NULL in the first chapter */
    bool runs_on_host;         /**< whether the chapter computes on the host and launches nothing */
    const char *const
        *unsupported_options;          /**< unsupported options of the table, NULL-terminated; NULL if there are none */
    const struct gpu_needs *gpu_needs; /**< requirements that the GPU must meet; NULL if there are none */
    const char *source_hash;           /**< kernel_source_sha256 */
    const char *const
        *own_kernels;     /**< names of the chapter's kernels, NULL-terminated; empty or NULL if there is no fallback */
    const char *fallback; /**< what is launched where these are not, and what these are for: a text for the report */
    struct benchmark bench; /**< benchmark, whose sweep and max_tokens the operator may set */

    struct program_options *options; /**< the operator's options of the current run; a benchmark sets num_tokens */
    struct program_options requested_options; /**< the options as given on the command line */
    struct backend_info backend;
    struct error error;
    bool has_begun_first_run;        /**< whether the first run has begun */
    struct covering_design covering; /**< with --check-all: the covering design of the problems */
    int num_verified_problems;       /**< number of these problems that have been verified */
    /** With --check-all: the number of problems that launched each kernel; empty on a GPU, which reports no names. */
    struct {
        char name[KERNEL_NAME_SIZE];
        int num_problems;
    } kernels[MAX_KERNELS];
    int num_kernels;
    struct run_counters counters;
    struct record report;

    char *command;                           /**< the command that reproduces the run; see program_set_command() */
    char problem_text[320], input_text[256]; /**< descriptions for the report */
    char verified_text[192];                 /**< description of what was verified */
    const char *distribution_name;           /**< one-word name of the input's distribution */
};

/**
 * Parses the command line into `options`, whose first member is a struct program_options; `description` describes the
 * chapter in --help. On failure the error names the argument, its value and the allowed values.
 */
bool program_parse(struct program *program, const struct option_row *table, const char *description, int argc,
                   char **argv, void *options);

/** Rejects --seed if nothing in a run with these traits depends on it. On failure sets program->error. */
bool program_reject_unused_seed(struct program *program, unsigned trait_mask);

/**
 * Prepares a program whose launches overlap: requires a GPU that supports overlap, and makes a benchmark compare the
 * program with the same kernels launched without overlap. Must be called before
 * program_check_options_and_open_device().
 */
void program_require_launch_overlap_and_set_serial_baseline(struct program *program);

/**
 * Opens the device and sets up the benchmark; the operator must already have checked its options. Returns false if two
 * options in program_options are mutually exclusive or if no suitable device exists.
 */
bool program_check_options_and_open_device(struct program *program);

/** Creates the directory of --out, whose parent must exist. Returns false if no file can be created in it. */
bool output_directory_create(const char *directory, struct error *error);

/** Begins the next run. Returns false after the last run or after an error. */
bool program_begin_next_run(struct program *program);

/**
 * Runs a launch once, as checked_launch_run() does, with a trace if --trace is given. If the answer is verified, keeps
 * the trace and writes the outputs to --out. In a benchmark, also times the launch. On failure sets program->error.
 */
void program_run_or_benchmark_checked_launch(struct program *program, const struct checked_launch *launch,
                                             struct tensors *tensors);

/**
 * Times the previous chapter's implementation in a benchmark. Failure to measure these times is not an error; the
 * report then lacks them.
 */
void program_time_previous_chapter(struct program *program, const struct checked_launch *launch,
                                   struct tensors *tensors);

/** Sets the command that reproduces the current run, from its options and the table that parsed them. */
void program_set_command(struct program *program, const struct option_row *table, unsigned trait_mask);

/** Returns the command that reproduces the current run or, if out of memory, the program's path. */
const char *program_command(const struct program *program);

/**
 * Returns the traits of the run: TRAIT_HAS_NUM_TOKENS, unless it is a sweep of sizes, and TRAIT_HAS_SEVERAL_LAUNCHES if
 * it has several launches.
 */
unsigned program_run_trait_mask(const struct program *program);

/**
 * Starts a report; a benchmark starts a new report for every size. Returns the record to which the operator adds
 * "problem", in JSON and CSV. With --check-all, returns NULL, because individual problems have no report; adding a
 * field to NULL has no effect.
 */
struct record *program_begin_report(struct program *program);

/** Adds the provenance of the times to a JSON report: software, date, the kernel's hash, the input. */
void report_add_provenance(const struct program *program, struct record *report);

/**
 * Adds to the report whether the answer is correct. For a single run, returns the report, to which the operator then
 * adds its own fields; for a benchmark or with --check-all, returns NULL.
 */
struct record *program_report_correctness(struct program *program);

/**
 * Writes the result. For a single run, the result is the report with its counters and, on standard error, the error if
 * the answer is wrong. For a benchmark, it is the table of times; with --check-all, it is the number of verified
 * problems or the command that reproduces the failure. Returns the exit code.
 */
int program_write_result(struct program *program);

/** Prints the error, if there is one, as a line "NAME: REASON" on standard error. Returns the exit code. */
int program_print_error(const struct program *program);

/**
 * Adds the counters to a report. The table lists each counter's total, its count per token (unless `num_tokens` is 0)
 * and, if there are several kernels, a column for each kernel; the counters' limits follow the table. If nothing was
 * counted, the table is omitted. JSON gets "counters" with the totals and "kernels" with the counters of each kernel.
 * CSV gets the totals. The counters must outlive the report.
 */
void report_add_counters(const struct run_counters *counters, double num_tokens, struct record *report);

#endif
