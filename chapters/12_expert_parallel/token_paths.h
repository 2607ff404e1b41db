/** @file token_paths.h Chapter 12: two ways to send tokens to the experts and the results back, stage by stage. */
#ifndef TOKEN_PATHS_H
#define TOKEN_PATHS_H

#include "harness/parallel/layer.h"

/** Gathers all tokens on every rank; adds up the results in the DP group, then in the TP group. */
bool run_layer_with_broadcast(struct parallel_layer *layer, struct error *error);

/**
 * Sends each token only to the ranks that have its experts, and returns the sums over these experts to the token's
 * rank.
 */
bool run_layer_with_all_to_all(struct parallel_layer *layer, struct error *error);

#endif
