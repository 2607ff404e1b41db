/** @file token_paths.h  Chapter 12: the two ways to bring tokens to experts and results back, stage by stage. */
#ifndef TOKEN_PATHS_H
#define TOKEN_PATHS_H

#include "harness/parallel/layer.h"

/** Gathers: every rank gets all tokens; sums are added in the DP group, then in the TP group. */
bool run_broadcast(struct parallel_layer *layer, struct error *error);

/** A token goes to the ranks that have its experts, and their sums come back. */
bool run_all_to_all(struct parallel_layer *layer, struct error *error);

#endif
