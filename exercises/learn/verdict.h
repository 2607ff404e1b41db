/**
 * @file verdict.h
 * @brief Runs a graded program within limits and judges it by its records and by how it ended.
 *
 * The program runs as a child, in its own process group: `PROGRAM --records --seed S [--until-failure] [--only CASE]`,
 * with limits on time, memory and output. It reports on descriptor 3, one record per line, with fields separated by
 * tabs:
 *
 *     plan N                              the number of cases; first
 *     try NAME                            before each case
 *     measure NAME VALUE                  a figure of the running case
 *     case NAME pass|fail|fault MESSAGE   after each case
 *     done                                last
 *
 * The program has passed if it reported all N cases as passed and then `done`, exited with 0 and stayed within its
 * limits. Its printed output does not matter.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VERDICT_NAME_SIZE = 64, VERDICT_MESSAGE_SIZE = 1536, VERDICT_MAX_CASES = 64, VERDICT_MAX_MEASUREMENTS = 64 };

enum case_result { CASE_PASSED, CASE_FAILED, CASE_FAULTED };

/** A case, as the program reported it. */
struct verdict_case {
    char name[VERDICT_NAME_SIZE];
    enum case_result result;
    char message[VERDICT_MESSAGE_SIZE]; /**< "" if it passed, else one line */
};

/** A figure that the program measured, such as shuffles or barriers. */
struct verdict_measurement {
    char case_name[VERDICT_NAME_SIZE];
    char name[VERDICT_NAME_SIZE];
    double value;
};

/** The resource limits of a program. Zeros stand for the defaults. */
struct verdict_limits {
    double seconds_per_case; /**< wall time between two records, that is, per case; default 10 */
    /** Size of the address space; default 2 GiB, of which the simulator reserves 1.3 GiB. SIZE_MAX: no limit (GPU). */
    size_t memory_bytes;
    size_t output_bytes; /**< size of standard output and error; default 4 MiB */
    uint64_t max_events; /**< number of events after which a simulated launch is reported as endless */
};

/** A program to run and judge: an answer with its grader, and how to run it. */
struct program_to_judge {
    const char *path;           /**< its path */
    uint64_t seed;              /**< seed of its inputs; see verdict_fresh_seed() */
    const char *only_case_name; /**< the only case to run, or NULL for all */
    bool stop_after_failure;    /**< run no case after the first one that does not pass */
    struct verdict_limits limits;
};

/** The result of a run. */
struct verdict {
    bool has_passed;
    bool has_no_device; /**< exit code 3: no GPU can run it; `reason` says why */
    char reason
        [VERDICT_MESSAGE_SIZE]; /**< "" if it passed, else one line: the first failed case, or how the run ended */
    char reason_case_name[VERDICT_NAME_SIZE]; /**< the case that `reason` is about, or "" */
    int num_planned_cases;                    /**< number of cases announced; 0 if there was no plan */
    int num_cases;                            /**< number of cases reported */
    struct verdict_case cases[VERDICT_MAX_CASES];
    int num_measurements;
    struct verdict_measurement measurements[VERDICT_MAX_MEASUREMENTS];
    char *output;   /**< the program's output, truncated, to be shown on request; NULL if there was none */
    double seconds; /**< wall time */
};

/**
 * Runs and judges a program. If it cannot be started, returns false with a one-line error; nothing needs to be freed.
 */
bool verdict_run(const struct program_to_judge *program, struct verdict *verdict, struct error *error);

/** Frees the output. */
void verdict_free(struct verdict *verdict);

/** Returns a fresh seed, of at most 9 digits so that it is easy to type. */
uint64_t verdict_fresh_seed(void);

#endif
