/** @file core/program.h  What the programs of all operators share: options, a run and its files, report, exit. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "base/record.h"
#include "harness/core/bench.h"
#include "harness/core/tensor.h"
#include "harness/core/option.h"
#include "harness/core/run.h"

/** What was asked for, whatever the operator: the first member of its options. Strings belong to argv. */
struct program_options {
    int64_t num_tokens;
    bool num_tokens_given;
    uint64_t seed;
    const char *out;          /**< a directory, or NULL */
    const char *trace;        /**< a file, or NULL */
    const char *trace_kernel; /**< whose launch, or NULL: the first */
    enum record_format format;
    bool check_all;
    bool check_eighth; /**< with check_all: every eighth of its problems */
    bool bench;
    bool flush_l2;
};

/** What decides which options repeat a run; more of it is the operator's, from OPERATOR_TRAIT on. */
enum { HAS_NUM_TOKENS = 2, IS_RANDOM = 4, OPERATOR_TRAIT = 8 };

/**
 * The rows of --seed, --check-eighth, --format, --bench, --flush-l2, --trace and --trace-kernel: an operator's table,
 * which has the others, goes on here.
 */
extern const struct option_row program_option_rows[];

/** An input array that is "none", "random" or a file, as its option was given. */
enum array_source { ARRAY_NOT_GIVEN, ARRAY_NONE, ARRAY_RANDOM, ARRAY_FILE };

/** Which of them the text, or NULL, names. */
enum array_source array_source(const char *text);

/** The hash of the kernel's source, written by the build. */
extern const char kernel_source_sha256[];

/**
 * A chapter's program. Its main() fills what comes first, the operator, for each run, what comes last; the rest begins
 * as zeros. A program runs its implementation once; with --check-all on many problems; with --bench for each of some
 * sizes.
 */
struct program {
    const char *path;              /**< argv[0] */
    const char *name;              /**< the chapter's */
    const char *before;            /**< the chapter before it; NULL in the first */
    bool on_host;                  /**< it computes there and launches nothing */
    const char *const *refused;    /**< options of its table that it has none of, which NULL ends; NULL: it has all */
    const struct gpu_needs *needs; /**< what it needs of a GPU; NULL: nothing */
    const char *source_hash;       /**< kernel_source_sha256 */
    struct benchmark bench;        /**< its sweep and most_tokens are the operator's, unless they are the usual ones */

    struct program_options *options; /**< those of the operator, of the run at hand: a benchmark sets num_tokens */
    struct program_options asked;    /**< what they were on the command line */
    struct backend backend;
    struct error error;
    bool begun;                                    /**< the first run */
    int num_loaded, num_verified, num_unsupported; /**< of many problems */
    struct run_counters counters;
    struct record report;

    char *command;                 /**< repeats the run; see program_set_command() */
    char problem[320], input[256]; /**< for people */
    char verified[192];            /**< what was found right */
    const char *distribution;      /**< of the input, one word */
};

/**
 * Parses the command line into `options`, which begin with program_options; `does` is what --help says that the chapter
 * does. False with one line that names the argument, what was given and what is allowed.
 */
bool program_parse(struct program *program, const struct option_row *table, const char *does, int argc, char **argv,
                   void *options);

/**
 * After all options are checked: false if two of program_options exclude each other, or there is no device to launch
 * on.
 */
bool program_open(struct program *program);

/** Creates the directory of --out if its parent exists. False if it cannot, or no file can be made there. */
bool output_directory_ready(const char *directory, struct error *error);

/** Begins the next run. False: that was the last one, or something went wrong. */
bool program_next(struct program *program);

/**
 * Runs a launch once, as launch_run() does, with the trace that --trace asks for; if it is verified, keeps that and
 * writes the outputs to --out. In a benchmark it is timed, too. What went wrong is program->error.
 */
void program_run(struct program *program, const struct launch *launch, struct tensors *tensors);

/** In a benchmark, times the implementation of the chapter before. Missing times are not an error. */
void program_run_before(struct program *program, const struct launch *launch, struct tensors *tensors);

/** Makes the command that repeats the run at hand, from its options and what they were parsed by. */
void program_set_command(struct program *program, const struct option_row *table, unsigned traits);

/** That command; if there was no memory for it, the program alone. */
const char *program_command(const struct program *program);

/** HAS_NUM_TOKENS, unless it is a sweep of sizes that is to be repeated. */
unsigned program_traits(const struct program *program);

/**
 * Begins a report, and that of a benchmark anew with every size. Returns where the operator adds "problem"; for
 * programs to read in JSON and CSV. NULL, to which nothing is added: nothing is reported of each of many problems.
 */
struct record *program_report_head(struct program *program);

/** Adds to a report with times, in JSON, what they are of: software, date, the kernel's hash, the input. */
void report_origin(const struct program *program, struct record *report);

/** Adds whether the answer is right. Returns where the operator adds what else it has to say of one run, or NULL. */
struct record *program_report_result(struct program *program);

/**
 * Writes what there is to say: the report of one run, with its counters, and on standard error what was wrong with the
 * answer; the times of a benchmark; how many problems were verified, or how to repeat the one that failed. Returns the
 * exit code.
 */
int program_end(struct program *program);

/** Prints the one line people get when a program did not end well, "NAME: REASON". Returns the exit code. */
int program_exit(const struct program *program);

/**
 * Adds the counters to a report. Table: the total and what that is per token (nothing if `num_tokens` is 0), with a
 * column for each kernel if there are several, and below it what the counters cannot see; nothing if nothing was
 * counted. JSON: "counters" and, for each kernel, "kernels". CSV: the totals. The counters must outlive the report.
 */
void counters_report(const struct run_counters *counters, double num_tokens, struct record *report);

#endif
