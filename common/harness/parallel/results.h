/** @file parallel/results.h Gathers the results of all ranks, and checks them like a single device's output. */
#ifndef PARALLEL_RESULTS_H
#define PARALLEL_RESULTS_H

#include "harness/parallel/layer.h"

/**
 * All-gathers the RANK_RESULT array of every rank, in rank order, into host memory. The ranks of a TP group are
 * expected to have the same result. The caller must free `gathered_results` even after a failure.
 */
bool results_all_gather(const struct parallel_layer *layer, char **gathered_results, struct error *error);

/**
 * Copies the gathered results to the output in `tensors` and checks them against the unsplit layer. On failure, returns
 * false and sets RUN_WRONG and the first wrong element.
 */
bool results_copy_to_output_and_check(const struct parallel_layer *layer, const char *gathered_results,
                                      struct moe_layer *unsplit_layer, struct tensors *tensors, struct error *error);

#endif
