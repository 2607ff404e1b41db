/** @file parallel/results.h  What all ranks have made of the layer: gathered, and checked as one device's output. */
#ifndef PARALLEL_RESULTS_H
#define PARALLEL_RESULTS_H

#include "harness/parallel/layer.h"

/**
 * Every rank gets what all have as their RESULT, on the host, one after the other: those of the TP ranks of a DP rank
 * are to be the same. The caller frees `results` in any case.
 */
bool results_gather(const struct parallel_layer *layer, char **results, struct error *error);

/**
 * Checks all results, as gathered, against the whole layer, whose output of `tensors` they become. False, as
 * RUN_WRONG, with the first failure.
 */
bool results_check(const struct parallel_layer *layer, const char *results, struct moe_layer *whole,
                   struct tensors *tensors, struct error *error);

#endif
