/** @file parallel/report.h  Writes the report of a run on several ranks, for parallel/program.c. */
#ifndef PARALLEL_REPORT_H
#define PARALLEL_REPORT_H

#include "harness/parallel/layer.h"

/**
 * Sets the strings that describe the run, and sets omitted options to their defaults, so that the command reproduces
 * the run.
 */
void parallel_describe_run_and_set_defaults(struct program *program, struct parallel_options *options,
                                            const struct rank_share *share, const struct moe_problem *problem,
                                            int block_size);

/** Adds to the report the problem, the ranks, and every stage with its figures combined over all ranks. */
void report_add_parallel_run(struct program *program, const struct parallel_options *options,
                             const struct moe_problem *problem, const struct parallel_layer *layer);

#endif
