/** @file run_report.h  What a chapter's program reported as JSON, and what its counters are called. */
#ifndef RUN_REPORT_H
#define RUN_REPORT_H

#include "texts.h"

#include "harness/core/error.h"
#include "../tests/simt/json.h"

enum { RUN_PATH_SIZE = 512, RUN_NUMBER_SIZE = 32 };

/** A counter, or the sum of two, in a program's words and in people's. */
struct run_counter {
    const char *name;     /**< "divergent_branches" */
    const char *label;    /**< "branches that split a warp" */
    const char *parts[2]; /**< of a sum; else NULL */
    bool in_all;          /**< never divided by the number of tokens */
    bool gpu_only;        /**< the simulator has no such counter */
    bool gpu_otherwise;   /**< a GPU counts it in another unit */
};

/** The counter of that name, or NULL. */
const struct run_counter *run_counter_find(const char *name);

/** Counter number `index` of those that are no sums and that the simulator has; NULL past the last. */
const struct run_counter *run_counter_at(int index);

/** A program's report. */
struct run_report {
    char path[RUN_PATH_SIZE];
    struct json_file file;
};

/**
 * Reads DIRECTORY/NAME.json, written by `--format json`; NAME begins with the chapter's number. Returns false, with nothing to
 * free, if it cannot be read, is of another chapter, or its result was not verified.
 */
bool run_report_read(const char *directory, const char *name, struct run_report *report, struct error *error);

void run_report_free(struct run_report *report);

/** The counter's value in a kernel, or in all of them where `kernel` is "". Returns false if it has none. */
bool run_report_count(const struct run_report *report, const char *kernel, const struct run_counter *counter,
                      double *count, struct error *error);

/** A member of the report's problem, such as "num_tokens"; 0 if it has none. */
double run_report_problem(const struct run_report *report, const char *name);

/** A number with its thousands apart where it is whole, else with three digits that count. Returns `text`. */
const char *run_format(double number, char text[RUN_NUMBER_SIZE]);

/** Where the counters of some reports come from. */
struct run_source {
    struct texts inputs, commands;
};

/** Adds a report; with `any_program`, NAME stands for the program's own name. */
void run_source_add(struct run_source *source, const struct run_report *report, bool any_program);

/** Writes "`command`, and so on; the input: words.\n", in Markdown; `more` says whether there is an "and so on". */
void run_source_write(FILE *out, const struct run_source *source, bool more);

#endif
