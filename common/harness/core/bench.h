/** @file core/bench.h  Times over a sweep of sizes: taking them, and writing them down with where they come from. */
#ifndef BENCH_H
#define BENCH_H

#include "base/record.h"
#include "harness/core/backend.h"
#include "harness/core/run.h"

struct program;

/** One size. Times in microseconds; a median of 0 says not measured. */
struct bench_row {
    int64_t num_tokens;
    struct timing here;    /**< the chapter, its input where the last launch left it */
    struct timing rotated; /**< the chapter, its input in another copy each time */
    struct timing before;  /**< the chapter before */
    double floor_us;
    double operations, bytes;   /**< that must be done and moved; operations 0: not compared with ceilings */
    double products_per_second; /**< operations of a library's products, held for as long as `here` took; 0: none */
};

enum { BENCH_MAX_ROWS = 24 };

/** What a program has measured. All zero: nothing yet. */
struct bench_times {
    int host_threads; /**< of what computed on the host; 0 if nothing did */
    struct floor_figures floor;
    double read_bytes_per_second; /**< 0: nothing is compared with ceilings */
    double timed_us;              /**< how long the last launch was replayed and timed */
    int num_rows;
    struct bench_row rows[BENCH_MAX_ROWS];
};

/** Begins the row of the next size, which is --num-tokens or one of a sweep. False: there is none, or an error. */
bool bench_next(struct program *program);

/**
 * Runs and verifies a launch, times it, and verifies what it left behind once more: fills the row's times but for
 * `before`. Rotated: on copies of the largest input in turn, so many that they exceed every cache; not measured where
 * L2 is flushed anyway, where one copy exceeds them, where too many copies would be needed and where memory does not
 * suffice for them.
 */
void bench_step(struct program *program, const struct launch *launch, struct operands *operands);

/** Times the chapter before in the same way, warm or flushed only. Missing times are not an error. */
void bench_before(struct program *program, const struct launch *launch, struct operands *operands);

/** Adds to a report with times, in JSON, what they are of: software, date, the kernel's hash, the input. */
void report_origin(const struct program *program, struct record *report);

/** Adds what the report begins with; program->problem is the last row's. The operator adds "problem", then: */
void bench_report_head(const struct program *program, struct record *report);

/** Adds the rows. */
void bench_report_rows(const struct program *program, struct record *report);

#endif
