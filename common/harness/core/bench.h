/** @file core/bench.h  Times over a sweep of sizes: taking them, and writing them down. */
#ifndef BENCH_H
#define BENCH_H

#include "base/record.h"
#include "harness/core/backend.h"
#include "harness/core/run.h"

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

/** A benchmark: first what it is of, which a program fills, then what it has measured, which begins as zeros. */
struct benchmark {
    const char *name, *before; /**< the chapter's, and that of the chapter before it, or NULL */
    bool on_host;              /**< it computes there and launches nothing */
    bool has_times;            /**< the backend has; nobody asks on the host */
    bool flush_l2;             /**< before each launch */
    int64_t one_size;          /**< it is the only one; below 0: a sweep of sizes */
    const int64_t *sweep;      /**< the sizes, then 0, at most BENCH_MAX_ROWS; NULL: the usual ones */
    int64_t most_tokens;       /**< a sweep ends there; 0: it is not cut short */

    int host_threads; /**< of what computed on the host; 0 if nothing did */
    struct floor_figures floor;
    double read_bytes_per_second; /**< 0: nothing is compared with ceilings */
    double timed_us;              /**< how long the last launch was replayed and timed */
    int num_rows;
    struct bench_row rows[BENCH_MAX_ROWS];
};

/** Begins the row of the next size, and says in it how many tokens. False: there is none, or an error. */
bool bench_next(struct benchmark *bench, struct error *error);

/**
 * Runs and verifies a launch, times it, and verifies what it left behind once more: fills the row's times but for
 * `before`. Rotated: on copies of the largest input in turn, so many that they exceed every cache; not measured where
 * L2 is flushed anyway, where one copy exceeds them, where too many copies would be needed and where memory does not
 * suffice for them.
 */
void bench_implementation(struct benchmark *bench, const struct launch *launch, struct tensors *tensors,
                          struct error *error);

/** Times the chapter before in the same way, warm or flushed only. Missing times are not an error. */
void bench_before(struct benchmark *bench, const struct launch *launch, struct tensors *tensors);

/** Adds the rows to a report. */
void bench_report_rows(const struct benchmark *bench, struct record *report);

#endif
