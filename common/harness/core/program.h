/** @file core/program.h  What the programs of all operators share: options, the files of a run, the report's head, the exit. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "harness/core/backend.h"
#include "harness/core/operand.h"
#include "harness/core/option.h"
#include "harness/core/record.h"
#include "harness/core/run.h"
#include "harness/core/whole_file.h"

/* Room for a command that repeats a run: a list of counts may be long. */
enum { PROGRAM_COMMAND_SIZE = 8192 };

/** What was asked for. Strings belong to argv. */
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

/** Rows of an operator's table for its program_options, which are the member `program` of the type `options`. */
#define PROGRAM_ROW(options, row_name, row_argument, row_type, member, row_repeats, row_help)       \
    {                                                                                               \
        .name = row_name, .argument = row_argument, .type = row_type, .group = 3, .help = row_help, \
        .field = offsetof(options, program.member), .repeats = row_repeats                          \
    }
#define PROGRAM_OPTIONS(options, out_help, check_all_help)                                                             \
    {.help = "The output", .group = 3}, PROGRAM_ROW(options, "out", "DIR", OPTION_TEXT, out, 0, out_help),             \
        {.name = "format",                                                                                             \
         .argument = "FORMAT",                                                                                         \
         .help = "table, json or csv (default table)",                                                                 \
         .group = 3,                                                                                                   \
         .type = OPTION_WORD,                                                                                          \
         .field = offsetof(options, program.format),                                                                   \
         .words = record_formats},                                                                                     \
        PROGRAM_ROW(options, "check-all", NULL, OPTION_FLAG, check_all, 0, check_all_help),                            \
        PROGRAM_ROW(options, "bench", NULL, OPTION_FLAG, bench, RUN_OF_ANY_KIND,                                       \
                    "Times over a sweep of sizes, beside the chapter before and the floor"),                           \
        PROGRAM_ROW(options, "flush-l2", NULL, OPTION_FLAG, flush_l2, RUN_OF_ANY_KIND,                                 \
                    "With --bench: overwrite the L2 cache before each launch"),                                        \
        PROGRAM_ROW(options, "trace", "FILE.json", OPTION_TEXT, trace, 0,                                              \
                    "On the CPU simulator: write there, once verified, what every warp of block (0,0,0) of the first " \
                    "launch did: shuffles, votes, barriers, loads, stores, atomics, with their lines and values; at "  \
                    "most 100,000 events"),                                                                            \
        PROGRAM_ROW(options, "trace-kernel", "NAME", OPTION_TEXT, trace_kernel, 0,                                     \
                    "With --trace: the first launch of this kernel, as the report names it")
#define PROGRAM_SEED_OPTION(options, seed_repeats)                                                                 \
    {                                                                                                              \
        .name = "seed", .argument = "S", .help = "Seed of generated input (default 1)", .group = 2,                \
        .type = OPTION_INT64, .field = offsetof(options, program.seed), .most = INT64_MAX, .repeats = seed_repeats \
    }

/** The --help text around the options: "Chapter NAME of ...: DOES." and what the exit status says. */
void program_doc(const char *name, const char *does, char *text, size_t size);

/** False with one line if two of them exclude each other. */
bool program_options_check(const struct program_options *options, struct error *error);

/** Makes a program ready to launch, if it does: finds the device. */
bool program_open(bool launches, struct backend *backend, struct error *error);

/** Makes sure that --out can be written to, and begins the trace that --trace asks for. */
bool program_begin(const struct program_options *options, struct whole_file *trace, struct error *error);

/** After the run: keeps the trace and writes the outputs if it was verified; else there is no trace. */
void program_keep(const struct program_options *options, const struct operands *operands, struct whole_file *trace,
                  struct error *error);

/** Prints the one line people get when a run did not end well, "NAME: REASON". Returns the exit code. */
int program_failed(const char *name, const struct error *error);

/** A run, as every report has it. The operator fills the texts. */
struct program_run {
    const char *name;   /**< the chapter's */
    const char *before; /**< the chapter before it; NULL in the first */
    const char *device; /**< NULL: the host */
    bool has_counters;
    struct error error;
    char command[PROGRAM_COMMAND_SIZE]; /**< repeats it */
    char problem[320], input[256];      /**< for people */
    char verified[192];                 /**< what was found right */
};

/**
 * Adds what every report begins with. Between the two calls an operator adds its problem to both formats for programs; in JSON it
 * comes before "verified", in CSV behind it.
 */
void program_report_head(const struct program_run *run, struct record *report);
void program_report_result(const struct program_run *run, struct record *report);

/**
 * Writes the report of a run whose answer was checked, and says on standard error what was wrong. Frees the report. Returns
 * the exit code.
 */
int program_end(const struct program_run *run, enum record_format format, struct record *report);

/**
 * Adds the counters to a report. Table: the total and what that is per token (nothing if `num_tokens` is 0), with a column for each
 * kernel if there are several, and below it what the counters cannot see; nothing if nothing was counted. JSON: "counters" and,
 * for each kernel, "kernels". CSV: the totals. The counters must outlive the report.
 */
void counters_report(const struct run_counters *counters, double num_tokens, struct record *report);

/** How --check-all goes. */
struct check_all {
    int verified, unsupported;
};

/** Writes how many problems there were. */
bool check_all_end(const struct check_all *tally, const char *name, struct error *error);

/** Adds the command that repeats a problem that failed to the error. Returns false. */
bool check_all_failed(const char *command, struct error *error);

#endif
