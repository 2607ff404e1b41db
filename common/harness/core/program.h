/** @file core/program.h  What the programs of all operators share: options, a run and its files, report, exit. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "base/record.h"
#include "harness/core/backend.h"
#include "harness/core/operand.h"
#include "harness/core/option.h"
#include "harness/core/run.h"

/* Room for a command that repeats a run: a list of counts may be long. */
enum { PROGRAM_COMMAND_SIZE = 8192 };

/** What was asked for, whatever the operator: the first member of its options. Strings belong to argv. */
struct program_options {
    uint64_t seed;
    const char *out;          /**< a directory, or NULL */
    const char *trace;        /**< a file, or NULL */
    const char *trace_kernel; /**< whose launch, or NULL: the first */
    enum record_format format;
    bool check_all;
    bool bench;
    bool flush_l2;
};

/**
 * The rows of --format, --bench, --flush-l2, --trace and --trace-kernel: an operator's table, which has the others,
 * goes on here.
 */
extern const struct option_row program_option_rows[];

/** An input array that is "none", "random" or a file, as its option was given. */
enum array_source { ARRAY_NOT_GIVEN, ARRAY_NONE, ARRAY_RANDOM, ARRAY_FILE };

/** Which of them the text, or NULL, names. */
enum array_source array_source(const char *text);

/** A chapter's program. Its main() fills what comes first, the operator the texts; the rest begins as zeros. */
struct program {
    const char *path;   /**< argv[0] */
    const char *name;   /**< the chapter's */
    const char *before; /**< the chapter before it; NULL in the first */
    bool on_host;       /**< it computes there and launches nothing */
    const struct program_options *options;

    struct backend backend;
    char command[PROGRAM_COMMAND_SIZE]; /**< repeats the run */
    char problem[320], input[256];      /**< for people */
    char verified[192];                 /**< what was found right */
    struct error error;
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

/**
 * Runs a launch once, as launch_run() does, with the trace that --trace asks for; if it is verified, keeps that and
 * writes the outputs to --out. What went wrong is program->error.
 */
void program_run(struct program *program, const struct launch *launch, struct operands *operands);

/** Prints the one line people get when a program did not end well, "NAME: REASON". Returns the exit code. */
int program_exit(const struct program *program);

/**
 * Adds what every report of a run begins with. Between the two calls an operator adds its problem to both formats for
 * programs; in JSON it comes before "verified", in CSV behind it.
 */
void program_report_head(const struct program *program, struct record *report);
void program_report_result(const struct program *program, struct record *report);

/**
 * Writes the report of a run whose answer was checked, and says on standard error what was wrong. Frees the report.
 * Returns the exit code.
 */
int program_report_end(struct program *program, struct record *report);

/**
 * Adds the counters to a report. Table: the total and what that is per token (nothing if `num_tokens` is 0), with a
 * column for each kernel if there are several, and below it what the counters cannot see; nothing if nothing was
 * counted. JSON: "counters" and, for each kernel, "kernels". CSV: the totals. The counters must outlive the report.
 */
void counters_report(const struct run_counters *counters, double num_tokens, struct record *report);

/** How --check-all goes. */
struct check_all {
    int verified, unsupported;
};

/**
 * Ends it: writes how many problems there were, or the error with the command that repeats the one that failed. Returns
 * the exit code.
 */
int check_all_end(struct program *program, const struct check_all *tally);

#endif
