/** @file parallel/split.h  Which rank has what: tokens, experts, a slice of their intermediate elements. */
#ifndef PARALLEL_SPLIT_H
#define PARALLEL_SPLIT_H

#include "harness/parallel/options.h"
#include "harness/parallel/ranks.h"

// [split]
/**
 * Rank r is number r / tp in data parallelism, by which it has tokens, and number r % tp in tensor parallelism: tp
 * ranks have the same tokens. Of the experts it has part r / slices, and of each of these experts slice r % slices of
 * the intermediate elements.
 */
struct split {
    int num_ranks, rank, dp, tp, parts, slices;
    int64_t *cu_tokens;     /**< [dp + 1] tokens before each DP rank's, and all */
    int32_t *owners;        /**< [E] the part that has each expert */
    int32_t *expert_map;    /**< [E] the local id of each expert here, -1: elsewhere */
    int32_t *local_experts; /**< [num_local] the expert that each local id names */
    int num_local, slice_size;
    int64_t own_begin, own_end; /**< tokens of this rank: those of its DP rank, or with all-to-all a share of them */
};
// [split]

/** What can be said before the layer is known: how ranks and parts divide. False, naming the option. */
bool split_ranks(const struct parallel_options *options, const struct ranks *ranks, struct split *split,
                 struct error *error);

/** Before the layer is loaded: the number of tokens, if --tokens-per-rank gives it. */
bool split_count_tokens(struct parallel_options *options, struct split *split, struct error *error);

/** The rest, once the layer is known. `map` as --expert-map gives it. split_free() in any case. */
bool split_layer(const struct parallel_options *options, const char *map, const struct moe_problem *problem,
                 struct split *split, struct error *error);
void split_free(struct split *split);

/** Where the tokens of rank r begin; those of rank r end where those of `r + 1` of the same DP rank begin. */
int64_t split_first_token(const struct split *split, int rank);

#endif
