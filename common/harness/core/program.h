/** @file core/program.h  Code that the programs of all operators share: options, a run and its files, report, exit. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "base/record.h"
#include "harness/core/backend.h"
#include "harness/core/bench.h"
#include "harness/core/covering.h"
#include "harness/core/tensor.h"
#include "harness/core/option.h"
#include "harness/core/run.h"

/** Options of every operator: the first member of the operator's own options. Strings belong to argv. */
struct program_options {
    int64_t num_tokens;
    bool num_tokens_given;
    uint64_t seed;
    const char *out;          /**< a directory, or NULL */
    const char *trace;        /**< a file, or NULL */
    const char *trace_kernel; /**< kernel whose first launch is traced; NULL: the first launch */
    enum record_format format;
    bool check_all;
    bool check_corners; /**< with check_all: only until every corner is in a problem */
    int check_share;    /**< with check_all: one of this many problems is verified; 0 counts as 1 */
    int launches;       /**< with the same workspace; 0 counts as 1 */
    bool bench;
    bool flush_l2;
};

/** Traits that select the options which repeat a run; an operator's own begin at OPERATOR_TRAIT. */
enum { HAS_NUM_TOKENS = 2, IS_RANDOM = 4, OPERATOR_TRAIT = 8, SEVERAL_LAUNCHES = 1 << 30 };

/**
 * The rows of --seed, --launches, --check-corners, --check-share, --format, --bench, --flush-l2, --trace and
 * --trace-kernel: an operator's table, which has the other options, continues with them.
 */
extern const struct option_row program_option_rows[];

/** Source of an input array, as its option was given. */
enum array_source { ARRAY_NOT_GIVEN, ARRAY_NONE, ARRAY_RANDOM, ARRAY_FILE };

/** Returns the source that the text, or NULL, names. */
enum array_source array_source(const char *text);

/** Hash of the kernel's source, which the build writes. */
extern const char kernel_source_sha256[];

/**
 * A chapter's program. Its main() fills the first members; the operator fills the last ones for each run; the others
 * begin as zeros. A program runs its implementation once; with --check-all on many problems; with --bench for each of
 * some sizes.
 */
struct program {
    const char *path;              /**< argv[0] */
    const char *name;              /**< the chapter's */
    const char *before;            /**< the chapter before it; NULL in the first */
    bool on_host;                  /**< it computes on the host and launches nothing */
    const char *const *refused;    /**< options of the table that it lacks, NULL-terminated; NULL: it has all */
    const struct gpu_needs *needs; /**< requirements of a GPU; NULL: none */
    const char *source_hash;       /**< kernel_source_sha256 */
    struct benchmark bench;        /**< the operator may set its sweep and most_tokens */

    struct program_options *options;  /**< the operator's options of the current run; a benchmark sets num_tokens */
    struct program_options requested; /**< the options as given on the command line */
    struct backend backend;
    struct error error;
    bool begun;               /**< true once the first run has begun */
    struct covering covering; /**< with --check-all: the problems */
    int num_verified;         /**< of them */
    /** With --check-all: the kernels, and in how many problems each was launched; none on a GPU, which has no names. */
    struct {
        char name[KERNEL_NAME_SIZE];
        int num_problems;
    } kernels[MAX_KERNELS];
    int num_kernels;
    struct run_counters counters;
    struct record report;

    char *command;                 /**< repeats the run; see program_set_command() */
    char problem[320], input[256]; /**< descriptions for readers */
    char verified[192];            /**< description of what was verified */
    const char *distribution;      /**< of the input, one word */
};

/**
 * Parses the command line into `options`, which begin with program_options; `does` is the chapter's description in
 * --help. On failure the error names the argument, the given value and the allowed ones.
 */
bool program_parse(struct program *program, const struct option_row *table, const char *does, int argc, char **argv,
                   void *options);

/**
 * Prepares a program whose launches overlap: it needs a GPU that can do so, and a benchmark compares it with the same
 * kernels launched one after the other. Called before program_open().
 */
void program_overlaps(struct program *program);

/**
 * Opens the device and sets up the benchmark, after the operator has checked its options. Returns false if two of
 * program_options exclude each other, or if there is no suitable device.
 */
bool program_open(struct program *program);

/** Creates the directory of --out if its parent exists. Returns false if that fails or no file can be created in it. */
bool output_directory_ready(const char *directory, struct error *error);

/** Begins the next run. False after the last run or an error. */
bool program_next(struct program *program);

/**
 * Runs a launch once, as launch_run() does, with a trace if --trace is given; if the answer is verified, keeps the
 * trace and writes the outputs to --out. In a benchmark it also times the launch. Sets program->error on failure.
 */
void program_run(struct program *program, const struct launch *launch, struct tensors *tensors);

/** Times the implementation of the previous chapter, in a benchmark. Missing times are not an error. */
void program_run_before(struct program *program, const struct launch *launch, struct tensors *tensors);

/** Makes the command that repeats the current run, from its options and the table that parsed them. */
void program_set_command(struct program *program, const struct option_row *table, unsigned traits);

/** Returns the command that repeats the current run; if there was no memory for it, only the program's path. */
const char *program_command(const struct program *program);

/** Returns HAS_NUM_TOKENS, or 0 if the run is a sweep of sizes. */
unsigned program_traits(const struct program *program);

/**
 * Begins a report; a benchmark begins it again with every size. Returns the record to which the operator adds
 * "problem", in JSON and CSV. With --check-all it returns NULL, to which nothing is added, because single problems have
 * no report.
 */
struct record *program_report_head(struct program *program);

/** Adds the origin of times to a report, in JSON: software, date, the kernel's hash, the input. */
void report_origin(const struct program *program, struct record *report);

/** Adds whether the answer is right. Returns the record for the operator's further fields of a single run, or NULL. */
struct record *program_report_result(struct program *program);

/**
 * Writes the result: the report of one run, with its counters, and an error in the answer on standard error; the times
 * of a benchmark; or the number of verified problems, or the command that repeats the failed one. Returns the exit
 * code.
 */
int program_end(struct program *program);

/** Prints the error, if there is one, as a line "NAME: REASON" on standard error. Returns the exit code. */
int program_exit(const struct program *program);

/**
 * Adds the counters to a report. Table: the total and the figure per token (none if `num_tokens` is 0), with a column
 * for each kernel if there are several, and below them the limits of the counters; nothing if nothing was counted.
 * JSON: "counters" and, for each kernel, "kernels". CSV: the totals. The counters must outlive the report.
 */
void counters_report(const struct run_counters *counters, double num_tokens, struct record *report);

#endif
