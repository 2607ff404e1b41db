/**
 * @file verdict.h
 * @brief Runs a graded program within limits, and judges it by its records and how it ended.
 *
 * The program runs as a child: `PROGRAM --records --seed S [--until-failure] [--only CASE]`, in a process group of its
 * own, with limits on time, memory and output. It reports on descriptor 3, a line per record, tab-separated:
 *
 *     plan N                              the number of cases; first
 *     try NAME                            before each case
 *     measure NAME VALUE                  a figure of the running case
 *     case NAME pass|fail|fault MESSAGE   after each case
 *     done                                last
 *
 * It has passed if all N cases were reported and passed, `done` was reported, the exit code is 0, and it kept within
 * its limits. Its printed output does not count.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VERDICT_NAME_SIZE = 64, VERDICT_MESSAGE_SIZE = 1536, VERDICT_MAX_CASES = 64, VERDICT_MAX_MEASURES = 64 };

enum case_result { CASE_PASSED, CASE_FAILED, CASE_FAULTED };

/** A case as the program reported it. */
struct verdict_case {
    char name[VERDICT_NAME_SIZE];
    enum case_result result;
    char message[VERDICT_MESSAGE_SIZE]; /**< "" if it passed; one line */
};

/** A figure that the program measured, such as shuffles or barriers. */
struct verdict_measure {
    char of_case[VERDICT_NAME_SIZE];
    char name[VERDICT_NAME_SIZE];
    double value;
};

/** The resource limits of a program. Zeros stand for the defaults. */
struct verdict_limits {
    double seconds; /**< wall time between two records, so per case; default 10 */
    /** Address space; default 2 GiB, of which the simulator reserves 1.3. SIZE_MAX: no limit, for a GPU. */
    size_t memory_bytes;
    size_t output_bytes; /**< on standard output and error; default 4 MiB */
    uint64_t events;     /**< of one launch on the simulator, before it is reported as endless */
};

/** A grader program and how to run it. */
struct graded_program {
    const char *program; /**< path */
    uint64_t seed;       /**< of its inputs; see verdict_fresh_seed() */
    const char *only;    /**< the only case to run; NULL: all */
    bool until_failure;  /**< no case is tried after the first that does not pass */
    struct verdict_limits limits;
};

/** The result of a run. */
struct verdict {
    bool passed;
    bool no_device; /**< exit code 3: there is no GPU that it can run on, as `reason` says */
    char reason
        [VERDICT_MESSAGE_SIZE];      /**< "" if it passed, else one line: the first case that failed, or how it ended */
    char at_case[VERDICT_NAME_SIZE]; /**< the case that `reason` is about; "" if it is about none */
    int planned;                     /**< number of cases announced; 0 if there was no plan */
    int num_cases;                   /**< number of cases reported */
    struct verdict_case cases[VERDICT_MAX_CASES];
    int num_measures;
    struct verdict_measure measures[VERDICT_MAX_MEASURES];
    char *output;   /**< the program's output, truncated; shown on request. NULL if there was none */
    double seconds; /**< wall time */
};

/** Runs and judges a program. Returns false with one line, and nothing to free, if it could not be started. */
bool verdict_run(const struct graded_program *graded, struct verdict *verdict, struct error *error);

/** Frees the output. */
void verdict_free(struct verdict *verdict);

/** Returns a fresh seed, of at most 9 digits so that it can be typed again. */
uint64_t verdict_fresh_seed(void);

#endif
