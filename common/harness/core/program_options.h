/** @file program_options.h  The flags of every operator's program: what it does, where the report goes, the seed. */
#ifndef PROGRAM_OPTIONS_H
#define PROGRAM_OPTIONS_H

#include "harness/core/error.h"
#include "harness/core/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for a command that repeats a run: a list of counts may be long. */
enum { PROGRAM_COMMAND_SIZE = 8192 };

/** What was asked for. Strings belong to argv. */
struct program_options {
    uint64_t seed;
    const char *out;          /**< a directory, or NULL */
    const char *trace;        /**< a file, or NULL */
    const char *trace_kernel; /**< whose launch, or NULL: the first */
    enum report_format format;
    bool grid;
    bool bench;
    bool cold;
};

/** argp's keys of these flags. Operators number theirs from PROGRAM_KEY_END on. */
enum program_key {
    PROGRAM_KEY_SEED = 256, /* beyond every short option */
    PROGRAM_KEY_OUT,
    PROGRAM_KEY_FORMAT,
    PROGRAM_KEY_GRID,
    PROGRAM_KEY_BENCH,
    PROGRAM_KEY_COLD,
    PROGRAM_KEY_TRACE,
    PROGRAM_KEY_TRACE_KERNEL,
    PROGRAM_KEY_END,
};

/** Their rows in an operator's table of options, where group 2 is the input. Arguments: what --out and --check-all do. */
#define PROGRAM_OPTION_ROWS(out_does, grid_does)                                                                       \
    {"seed", PROGRAM_KEY_SEED, "S", 0, "Seed of generated input (default 1)", 2}, {NULL, 0, NULL, 0, "The output", 3}, \
        {"out", PROGRAM_KEY_OUT, "DIR", 0, out_does, 3},                                                               \
        {"format", PROGRAM_KEY_FORMAT, "FORMAT", 0, "table, json or csv (default table)", 3},                          \
        {"grid", PROGRAM_KEY_GRID, NULL, 0, grid_does, 3},                                                             \
        {"bench", PROGRAM_KEY_BENCH, NULL, 0, "Times over a sweep of sizes, beside the chapter before and the floor",  \
         3},                                                                                                           \
        {"cold", PROGRAM_KEY_COLD, NULL, 0, "With --bench: overwrite the L2 cache before each launch", 3},             \
        {"trace",                                                                                                      \
         PROGRAM_KEY_TRACE,                                                                                            \
         "FILE.json",                                                                                                  \
         0,                                                                                                            \
         "On the CPU simulator: write there, once verified, what every warp of block (0,0,0) of the first launch "     \
         "did: shuffles, votes, barriers, loads, stores, atomics, with their lines and values; at most 100,000 "       \
         "events",                                                                                                     \
         3},                                                                                                           \
    {                                                                                                                  \
        "trace-kernel", PROGRAM_KEY_TRACE_KERNEL, "NAME", 0,                                                           \
            "With --trace: the first launch of this kernel, as the report names it", 3                                 \
    }

/** What these flags are without a word on the command line. */
struct program_options program_options_default(void);

/** Parses one of them; the error names it, what was given and what is allowed. */
bool program_option_parse(int key, const char *text, struct program_options *options, struct error *error);

/** False with one line if two of them exclude each other. */
bool program_options_check(const struct program_options *options, struct error *error);

/** Appends the flags that decide what a run does to a command that has its problem and its input already. */
void program_options_command(const struct program_options *options, char *text, size_t size);

/** The --help text around the options: "Chapter NAME of ...: DOES." and what the exit status says. */
void program_doc(const char *name, const char *does, char *text, size_t size);

#endif
