/** @file core/bench.h  Times over a sweep of sizes: taking them, and writing them down with where they come from. */
#ifndef BENCH_H
#define BENCH_H

#include "harness/core/program.h"

/** One size. Times in microseconds; a median of 0 says not measured. */
struct bench_row {
    int64_t num_tokens;
    struct timing here;    /**< the chapter, its input where the last launch left it */
    struct timing rotated; /**< the chapter, its input in another copy each time */
    struct timing before;  /**< the chapter before */
    double floor_us;
};

enum { BENCH_MAX_ROWS = 24 };

/** A benchmark. Whoever runs it fills what comes first; the rest begins as zeros. */
struct bench {
    struct program *program;  /**< what goes wrong is its error */
    const char *distribution; /**< of the input, one word */
    int host_threads;         /**< of whatever computes on the host; 0 if nothing does */
    int64_t only;             /**< the one size, in tokens; negative: the sweep, 1 to 65,536 */

    struct floor_figures floor;
    int num_rows;
    struct bench_row rows[BENCH_MAX_ROWS];
};

/**
 * The row of the next size, to be filled; NULL after the last, and as soon as program->error says that something went
 * wrong.
 */
struct bench_row *bench_next(struct bench *bench);

/**
 * Runs and verifies a launch, times it, and verifies what it left behind once more: fills the row's times but for
 * `before`. Rotated: on copies of the largest input in turn, so many that they exceed every cache; not measured where
 * L2 is flushed anyway, where too many copies would be needed and where memory does not suffice for them.
 */
bool bench_step(const struct bench *bench, const struct launch *launch, struct operands *operands,
                struct bench_row *row);

/** Times the chapter before in the same way, warm or flushed only. Missing times are not an error. */
void bench_before(const struct bench *bench, const struct launch *launch, struct operands *operands,
                  struct bench_row *row);

/** Adds what the report begins with; program->problem is the last row's. The operator adds "problem", then: */
void bench_report_head(const struct bench *bench, struct record *report);

/**
 * Adds the rows, writes the report to standard output, unless something went wrong, and frees it. Returns the exit
 * code.
 */
int bench_end(const struct bench *bench, struct record *report);

#endif
