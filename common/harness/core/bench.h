/** @file core/bench.h  Measures a chapter over a sweep of sizes and reports the times; used by core/program.c. */
#ifndef BENCH_H
#define BENCH_H

#include "base/record.h"
#include "harness/core/backend.h"
#include "harness/core/run.h"

/** The results for one size. Times are in microseconds; a median of 0 means that the time was not measured. */
struct bench_row {
    int64_t num_tokens;
    struct timing here;    /**< the chapter's implementation, with its input in the cache as the last launch left it */
    struct timing rotated; /**< the chapter's implementation, with a different copy of its input in each launch */
    struct timing before;  /**< the previous chapter */
    double floor_us;
    double operations, bytes;   /**< required work; if operations is 0, there is no comparison with ceilings */
    double products_per_second; /**< cuBLAS's operations per second in a run as long as that of `here`; 0: none */
};

enum { BENCH_MAX_ROWS = 24 };

/** A benchmark: first the parameters, which the program sets, then the results, which begin as zeros. */
struct benchmark {
    const char *name, *before; /**< names of the chapter and of the previous one, or NULL */
    bool on_host;              /**< the chapter computes on the host and launches nothing */
    bool has_times;            /**< the backend can measure times; ignored if on_host */
    bool flush_l2;             /**< flush L2 before each launch */
    int64_t one_size;          /**< the only size to measure; negative: a sweep of sizes */
    const int64_t *sweep;      /**< at most BENCH_MAX_ROWS sizes, terminated by 0; NULL: the usual sizes */
    int64_t most_tokens;       /**< largest size of the sweep; 0: no limit */

    int host_threads; /**< threads of an implementation on the host; 0: it runs on the device */
    struct floor_figures floor;
    double read_bytes_per_second; /**< read bandwidth; 0: no comparison with ceilings */
    double timed_us;              /**< total time of the last launch's replays */
    int num_rows;
    struct bench_row rows[BENCH_MAX_ROWS];
};

/** Begins the row of the next size and sets its num_tokens. Returns false if there is none, or on an error. */
bool bench_next(struct benchmark *bench, struct error *error);

/**
 * Runs and verifies a launch, times it, and verifies its last answer again; sets the row's times except `before`. For
 * `rotated`, the launches rotate among enough copies of the largest input to exceed every cache. `rotated` is not
 * measured if L2 is flushed, if a single copy exceeds the caches, if too many copies would be needed, or if out of
 * memory.
 */
void bench_implementation(struct benchmark *bench, const struct launch *launch, struct tensors *tensors,
                          struct error *error);

/** Times the previous chapter's implementation in the same way, but not rotated. Missing times are not an error. */
void bench_before(struct benchmark *bench, const struct launch *launch, struct tensors *tensors);

/** Adds the rows to a report. */
void bench_report_rows(const struct benchmark *bench, struct record *report);

#endif
