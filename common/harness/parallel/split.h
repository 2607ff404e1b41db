/** @file parallel/split.h  Distributes tokens, experts and slices of intermediate elements among the ranks. */
#ifndef PARALLEL_SPLIT_H
#define PARALLEL_SPLIT_H

#include "harness/parallel/options.h"
#include "harness/parallel/ranks.h"

// [split]
/**
 * A rank's share of the layer. Rank r is rank r % tp of TP group r / tp, whose ranks have the same tokens. It has the
 * experts of part r / slices and slice r % slices of these experts' intermediate elements.
 */
struct rank_share {
    int num_ranks, rank, dp_size, tp_size, num_expert_parts, num_intermediate_slices;
    int64_t *token_offsets;  /**< [dp + 1] number of tokens before each TP group's tokens, followed by the total */
    int32_t *part_of_expert; /**< [E] the part to which each expert belongs */
    int32_t *expert_map;     /**< [E] local id of each expert on this rank, or -1 if on another rank */
    int32_t *local_experts;  /**< [num_local_experts] expert of each local id */
    int num_local_experts, intermediate_slice_size;
    int64_t own_tokens_begin,
        own_tokens_end; /**< this rank's tokens: its TP group's or, with all-to-all, a share of them */
};
// [split]

/**
 * Divides the ranks into TP groups, parts and slices, before the layer is known. On failure the error names the option.
 */
bool split_ranks_into_groups(const struct parallel_options *options, const struct rank_context *ranks,
                             struct rank_share *share, struct error *error);

/**
 * Allocates share->token_offsets and, if --tokens-per-group is given, sets them and the number of tokens from its list,
 * before the layer is loaded.
 */
bool split_parse_tokens_per_group_list(struct parallel_options *options, struct rank_share *share, struct error *error);

/**
 * Splits tokens, experts and slices after the layer has been loaded; `expert_map_argument` is the argument of
 * --expert-map. The caller must call rank_share_free().
 */
bool split_layer(const struct parallel_options *options, const char *expert_map_argument,
                 const struct moe_problem *problem, struct rank_share *share, struct error *error);
void rank_share_free(struct rank_share *share);

/**
 * Returns a rank's first token if --dispatch is all-to-all. The rank's tokens end where the next rank's tokens begin.
 */
int64_t rank_share_first_all_to_all_token(const struct rank_share *share, int rank);

#endif
