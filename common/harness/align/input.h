/** @file align/input.h  Align's inputs: ids, generated or converted from arrays, and expert maps. */
#ifndef ALIGN_INPUT_H
#define ALIGN_INPUT_H

#include "harness/align/align.h"
#include "harness/core/npy.h"

/** Distributions of generated ids. "Distinct" means that no expert occurs twice in a token, as far as topk permits. */
enum align_dist {
    ALIGN_DIST_BALANCED,   /**< the experts' counts differ by at most one; distinct */
    ALIGN_DIST_UNIFORM,    /**< every expert is equally likely; distinct */
    ALIGN_DIST_ZIPF,       /**< the r-th expert is 1 / r as likely as the first; distinct */
    ALIGN_DIST_ONE_EXPERT, /**< all ids name the same expert */
    ALIGN_DIST_SPARSE,     /**< uses one in sixteen experts, but at least two; distinct if they number at least topk */
    ALIGN_DIST_REPEATED,   /**< every expert of a token occurs at least twice, if topk is 2 or more */
    ALIGN_DIST_INVALID, /**< half of the ids name no expert: -1, E, E + 1, the limits of i32; in i64 also ids whose low
                              32 bits name an expert */
    NUM_ALIGN_DISTS
};

/** Names of the distributions, "balanced", "uniform", ..., in the order of the enum; NULL-terminated. */
extern const char *const align_dist_names[];

/**
 * Fills topk_ids with ids drawn from the distribution, `topk` per token; the last token is cut short if numel is not a
 * multiple of topk. A seed gives the same ids in i32 and i64, except that ids that do not fit in i32 become -1. Returns
 * false if out of memory.
 */
bool align_generate_ids(const struct align_problem *problem, int topk, enum align_dist dist, uint64_t seed,
                        void *topk_ids, struct error *error);

/**
 * Sets *numel to the sum of `counts` [num_experts]. If a count is below 0 or the sum is too large, returns false with
 * an error that names --counts.
 */
bool align_sum_counts(const int64_t *counts, int num_experts, int64_t *numel, struct error *error);

/** Fills topk_ids with counts[e] copies of each expert e, in random order. numel must be the sum of the counts. */
void align_generate_ids_with_counts(const struct align_problem *problem, const int64_t *counts, uint64_t seed,
                                    void *topk_ids);

/**
 * Fills expert_map [num_experts]: a random half of the experts (rounded up) gets local ids in random order; the others
 * get -1.
 */
void align_generate_half_local_expert_map(int num_experts, uint64_t seed, int32_t *expert_map);

/**
 * Fills topk_ids from an array of i32 or i64: id i is the array's element i % count. A value that does not fit in the
 * problem's type becomes -1, which names no expert. The array may be empty if numel is 0.
 */
void align_repeat_ids_from_array(const struct align_problem *problem, const struct npy_array *source, void *topk_ids);

/**
 * Checks a user-supplied map of i32 or i64 values and copies it to expert_map [num_experts]. The map must have
 * num_experts values; the L values other than -1 must be a permutation of 0 .. L-1. If they are not, the error names
 * --expert-map, the index and the value. Also fails if out of memory.
 */
bool align_convert_expert_map(const struct npy_array *source, int num_experts, int32_t *expert_map,
                              struct error *error);

#endif
