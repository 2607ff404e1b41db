/** @file core/bench.h  Measures a chapter over a sweep of sizes and reports the times; used by core/program.c. */
#ifndef BENCH_H
#define BENCH_H

#include "base/record.h"
#include "harness/core/backend.h"
#include "harness/core/run.h"

/** The results for one size. Times are in microseconds; a median of 0 means that the time was not measured. */
struct bench_row {
    int64_t num_tokens;
    struct timing chapter;                /**< the chapter's implementation, with caches as the last launch left them */
    struct timing chapter_rotated_inputs; /**< the same, with a different copy of its input in each launch */
    struct timing previous_chapter;       /**< the previous chapter's implementation */
    double floor_us;
    double required_operations, required_bytes; /**< if there are 0 operations, the row is not compared with ceilings */
    /** cuBLAS's operations per second in a run as long as `chapter`; 0 if not measured. */
    double cublas_operations_per_second;
};

enum { BENCH_MAX_ROWS = 24 };

/** A benchmark: the parameters, which the program sets, followed by the results, which are initially zero. */
struct benchmark {
    const char *name, *previous_name; /**< names of this chapter and of the previous one (NULL if there is none) */
    bool runs_on_host;                /**< whether the chapter computes on the host and launches nothing */
    bool can_measure_times;           /**< whether the backend can measure times; ignored if runs_on_host */
    bool flush_l2;                    /**< whether to flush L2 before each launch */
    int64_t only_num_tokens;          /**< the only size to measure, or negative for a sweep of sizes */
    const int64_t *sweep_sizes; /**< sizes to measure, at most BENCH_MAX_ROWS, 0-terminated; NULL for the default */
    int64_t max_tokens;         /**< largest size of the sweep; 0 for no limit */

    int num_host_threads; /**< number of host threads; 0 if the implementation runs on the device */
    struct launch_time_and_copy_rate launch_and_copy;
    double read_bytes_per_second; /**< read bandwidth; 0 if there is no comparison with ceilings */
    double last_timing_total_us;  /**< total time of the last launch's replays */
    int num_rows;
    struct bench_row rows[BENCH_MAX_ROWS];
};

/** Starts the row of the next size and sets its num_tokens. Returns false if no size is left or on failure. */
bool bench_begin_next_row(struct benchmark *bench, struct error *error);

/**
 * Runs and verifies a launch, times it, and verifies its last answer again; sets the row's times except
 * `previous_chapter`. For `chapter_rotated_inputs`, the launches rotate among enough copies of the largest input to
 * exceed every cache. `chapter_rotated_inputs` is not measured if L2 is flushed, if a single copy exceeds the caches,
 * if too many copies would be needed, or if out of memory.
 */
void bench_verify_and_time_chapter(struct benchmark *bench, const struct checked_launch *launch,
                                   struct tensors *tensors, struct error *error);

/**
 * Times the previous chapter's implementation in the same way, but without rotating inputs. Failure to measure these
 * times is not reported as an error.
 */
void bench_time_previous_chapter(struct benchmark *bench, const struct checked_launch *launch, struct tensors *tensors);

/** Adds the rows to a report. */
void bench_report_rows(const struct benchmark *bench, struct record *report);

#endif
