/** @file align_bench.h  Times of a step over a sweep of sizes, beside the chapter before and the floor. */
#ifndef ALIGN_BENCH_H
#define ALIGN_BENCH_H

#include "harness/align/options.h"
#include "harness/core/backend.h"
#include "harness/core/run_result.h"

#include <stdio.h>

/**
 * Runs the sweep (1 to 65,536 tokens, or --num-tokens or --counts alone) and writes the report. Every size is verified
 * before it is timed and once more afterwards. Returns RUN_VERIFIED, or what went wrong with the reason in `error`.
 */
enum run_result align_bench(const struct align_chapter *chapter, struct align_options *options,
                            const struct backend *backend, const char *program, FILE *stream, struct error *error);

#endif
