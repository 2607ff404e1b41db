/** @file bench.h  Times over a sweep of sizes: taking them, and writing them down with where they come from. */
#ifndef BENCH_H
#define BENCH_H

#include "harness/core/backend.h"
#include "harness/core/device_buffer.h"
#include "harness/core/program_options.h"
#include "harness/core/run_result.h"

#include <stdint.h>
#include <stdio.h>

/** One size. Times in microseconds; a median of 0 says not measured. */
struct bench_row {
    int64_t num_tokens;
    struct timing here;    /**< the chapter, its input where the last launch left it */
    struct timing rotated; /**< the chapter, its input in another copy each time */
    struct timing before;  /**< the chapter before */
    double floor_us;
};

enum { BENCH_MAX_ROWS = 24 };

/** A benchmark. Whoever runs it fills everything but the rows, then bench_sweep() fills those. */
struct bench {
    const char *chapter;
    const char *before;            /**< NULL in the first */
    bool on_host;                  /**< the chapter computes on the host */
    const struct backend *backend; /**< of a chapter that launches */
    const struct program_options *options;
    const char *distribution; /**< of the input, one word */
    int host_threads;         /**< of whatever computes on the host; 0 if nothing does */
    struct floor_figures floor;
    int num_rows;
    struct bench_row rows[BENCH_MAX_ROWS];
};

/** What is timed: `launch` reads its largest input at `input`, so that copies of it can take turns. */
struct bench_launch {
    cudaError_t (*launch)(const void *context, const void *input, cudaStream_t stream);
    const void *context;
    const struct device_buffer *input;
};

/** Finds out what nothing can be faster than. RUN_BAD_INPUT if the backend has no times, with a reason for people. */
enum run_result bench_measure_floor(struct bench *bench, struct error *error);

/** The time it takes to move so many bytes, or an empty kernel's, whichever is longer. */
double bench_floor_us(const struct bench *bench, double bytes);

/** Times the launch, on a warm cache or, as --flush-l2 asks, behind a flush. False with the reason. */
bool bench_time(const struct bench *bench, const struct bench_launch *launch, struct timing *timing,
                struct error *error);

/**
 * Times the launch on copies of its input in turn, so many that they exceed every cache. Leaves `timing` as it is where
 * --flush-l2 flushes the cache anyway, where too many copies would be needed and where memory does not suffice for them.
 */
bool bench_time_rotated(const struct bench *bench, const struct bench_launch *launch, struct timing *timing,
                        struct error *error);

/** Loads, verifies and times one size: fills the row's times. RUN_BAD_INPUT or RUN_NO_DEVICE ends the sweep. */
typedef enum run_result bench_size(const struct bench *bench, void *context, int64_t num_tokens, struct bench_row *row,
                                   struct error *error);

/** Times `only` tokens or, if that is negative, the sweep: 1 to 65,536. Stops at a result that is not RUN_VERIFIED. */
enum run_result bench_sweep(struct bench *bench, int64_t only, bench_size *size, void *context, struct error *error);

/** Writes the report: `describe` says which problem the last row is, `problem` is that as a JSON object. */
void bench_write(const struct bench *bench, const char *describe, const char *problem, const char *command,
                 FILE *stream);

#endif
