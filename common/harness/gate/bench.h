/** @file gate_bench.h  Times of a step over a sweep of sizes, beside the chapter before and the floor. */
#ifndef GATE_BENCH_H
#define GATE_BENCH_H

#include "harness/core/backend.h"
#include "harness/gate/options.h"
#include "harness/gate/run.h"

/**
 * Runs the sweep (1 to 65,536 tokens, or --num-tokens alone) and writes the report. Every size is verified before it is
 * timed and once more afterwards. Returns RUN_VERIFIED, or what went wrong with the reason in `error`.
 */
enum run_result gate_bench(const struct gate_chapter *chapter, struct gate_options *options,
                           const struct backend *backend, const char *program, FILE *stream, struct error *error);

#endif
