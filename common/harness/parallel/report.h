/** @file parallel/report.h  What a run on several ranks has to say. */
#ifndef PARALLEL_REPORT_H
#define PARALLEL_REPORT_H

#include "harness/parallel/layer.h"

/**
 * Makes the texts that say which run it is; the options become those that repeat it, whatever was left to defaults.
 */
void parallel_name_run(struct program *program, struct parallel_options *options, const struct split *split,
                       const struct moe_problem *problem, int block_size);

/** Adds the problem, the ranks, and every stage, as all ranks together have it. */
void parallel_report(struct program *program, const struct parallel_options *options, const struct moe_problem *problem,
                     const struct parallel_layer *layer);

#endif
