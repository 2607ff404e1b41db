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
    const char *out;          /**< a directory, or NULL */
    const char *trace;        /**< a file, or NULL */
    const char *trace_kernel; /**< the kernel whose first launch is traced; NULL: any */
    enum record_format format;
    bool check_all;
    bool check_corners; /**< with check_all: stop once every corner has been in a problem */
    int check_share;    /**< with check_all: verify one problem in this many; 0 counts as 1 */
    int launches;       /**< number of launches with the same workspace; 0 counts as 1 */
    bool bench;
    bool flush_l2;
};

/**
 * Traits of a run, which select the options in the command that repeats it; those of operators begin at OPERATOR_TRAIT.
 */
enum { HAS_NUM_TOKENS = 2, IS_RANDOM = 4, OPERATOR_TRAIT = 8, SEVERAL_LAUNCHES = 1 << 30 };

/**
 * The rows of --seed, --launches, --check-corners, --check-share, --format, --bench, --flush-l2, --trace and
 * --trace-kernel. The table with an operator's other options continues with these rows.
 */
extern const struct option_row program_option_rows[];

/** The kind of source that an option names for an input array. */
enum array_source { ARRAY_NOT_GIVEN, ARRAY_NONE, ARRAY_RANDOM, ARRAY_FILE };

/** Returns the kind of source that the option's text, or NULL, names. */
enum array_source array_source(const char *text);

/** SHA-256 of the kernel's source. The build writes a file that defines it. */
extern const char kernel_source_sha256[];

/**
 * A chapter's program. Its main() sets the first members, and the operator sets the last ones for each run; all others
 * begin as zeros. A program runs its implementation once; with --check-all on many problems; with --bench for a list of
 * sizes.
 */
struct program {
    const char *path;              /**< argv[0] */
    const char *name;              /**< the chapter's name */
    const char *before;            /**< the previous chapter's name; NULL in the first */
    bool on_host;                  /**< the chapter computes on the host and launches nothing */
    const char *const *refused;    /**< options in the table that the program lacks, NULL-terminated; NULL: none */
    const struct gpu_needs *needs; /**< requirements of a GPU; NULL: none */
    const char *source_hash;       /**< kernel_source_sha256 */
    struct benchmark bench;        /**< the operator may set its sweep and most_tokens */

    struct program_options *options;  /**< the operator's options of the current run; a benchmark sets num_tokens */
    struct program_options requested; /**< the options as given on the command line */
    struct backend backend;
    struct error error;
    bool begun;               /**< true once the first run has begun */
    struct covering covering; /**< with --check-all: the problems */
    int num_verified;         /**< number of these problems that have been verified */
    /** With --check-all: the number of problems that launched each kernel; empty on a GPU, which reports no names. */
    struct {
        char name[KERNEL_NAME_SIZE];
        int num_problems;
    } kernels[MAX_KERNELS];
    int num_kernels;
    struct run_counters counters;
    struct record report;

    char *command;                 /**< the command that repeats the run; see program_set_command() */
    char problem[320], input[256]; /**< descriptions for readers */
    char verified[192];            /**< description of what was verified */
    const char *distribution;      /**< one word for the distribution of the input */
};

/**
 * Parses the command line into `options`, which begin with program_options; `does` describes the chapter in --help. On
 * failure the error names the argument, its value and the allowed values.
 */
bool program_parse(struct program *program, const struct option_row *table, const char *does, int argc, char **argv,
                   void *options);

/**
 * Prepares a program whose launches overlap: requires a GPU that supports this, and makes a benchmark compare the
 * program with the same kernels launched one after another. Must be called before program_open().
 */
void program_overlaps(struct program *program);

/**
 * Opens the device and sets up the benchmark, after the operator has checked its options. Returns false if two of
 * program_options exclude each other, or if there is no suitable device.
 */
bool program_open(struct program *program);

/** Creates the directory of --out, whose parent must exist. Returns false if no file can be created in it. */
bool output_directory_ready(const char *directory, struct error *error);

/** Begins the next run. Returns false after the last run or an error. */
bool program_next(struct program *program);

/**
 * Runs a launch once, as launch_run() does, with a trace if --trace is given. If the answer is verified, keeps the
 * trace and writes the outputs to --out. In a benchmark, also times the launch. On failure sets program->error.
 */
void program_run(struct program *program, const struct launch *launch, struct tensors *tensors);

/**
 * Times the previous chapter's implementation in a benchmark. A failure is not an error, but leaves the times missing.
 */
void program_run_before(struct program *program, const struct launch *launch, struct tensors *tensors);

/** Sets the command that repeats the current run, from its options and the table that parsed them. */
void program_set_command(struct program *program, const struct option_row *table, unsigned traits);

/** Returns the command that repeats the current run or, if out of memory, the program's path. */
const char *program_command(const struct program *program);

/** Returns HAS_NUM_TOKENS, or 0 if the run is a sweep of sizes. */
unsigned program_traits(const struct program *program);

/**
 * Begins a report; a benchmark begins a new one for every size. Returns the record to which the operator adds
 * "problem", in JSON and CSV. With --check-all, returns NULL, because single problems have no report; adding fields to
 * NULL does nothing.
 */
struct record *program_report_head(struct program *program);

/** Adds to a JSON report how its times were measured: software, date, the kernel's hash, the input. */
void report_origin(const struct program *program, struct record *report);

/**
 * Adds to the report whether the answer is correct. Returns the record to which the operator adds its other fields of a
 * single run, or NULL.
 */
struct record *program_report_result(struct program *program);

/**
 * Writes the result. For a single run, this is the report with its counters and, on standard error, the error if the
 * answer is wrong. For a benchmark, it is the times; with --check-all, the number of verified problems or the command
 * that repeats the failed one. Returns the exit code.
 */
int program_end(struct program *program);

/** Prints the error, if there is one, as a line "NAME: REASON" on standard error. Returns the exit code. */
int program_exit(const struct program *program);

/**
 * Adds the counters to a report. A table has the total and, unless `num_tokens` is 0, the count per token, with a
 * column for each kernel if there are several; the counters' limits follow below. If nothing was counted, there is no
 * table. JSON: "counters", and "kernels" with those of each kernel. CSV: the totals. The counters must outlive the
 * report.
 */
void counters_report(const struct run_counters *counters, double num_tokens, struct record *report);

#endif
