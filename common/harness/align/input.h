/** @file align/input.h  Align's tensors: ids converted from elsewhere or generated, and maps of experts. */
#ifndef ALIGN_INPUT_H
#define ALIGN_INPUT_H

#include "harness/align/align.h"
#include "harness/core/npy.h"

/** How generated ids are spread over the experts. "Distinct": no expert twice in a token, as long as topk allows it. */
enum align_dist {
    ALIGN_DIST_BALANCED, /**< every expert equally often, give or take one; distinct */
    ALIGN_DIST_UNIFORM,  /**< any expert; distinct */
    ALIGN_DIST_ZIPF,     /**< the second expert half as often as the first, the third a third, ...; distinct */
    ALIGN_DIST_ONE,      /**< one expert only */
    ALIGN_DIST_SPARSE,   /**< one expert in sixteen, two at least; distinct where there are topk of them */
    ALIGN_DIST_REPEATED, /**< every expert of a token at least twice, where topk is 2 or more */
    ALIGN_DIST_INVALID,  /**< half of the ids name no expert: -1, E, E + 1, the ends of i32; in i64 also some whose low
                              32 bits name one */
    ALIGN_DIST_COUNT
};

/** "balanced", "uniform", ..., in the order of the enum; NULL ends them. */
extern const char *const align_dist_names[];

/**
 * Fills topk_ids with the distribution, in tokens of `topk` ids, of which numel may cut the last one short. The same
 * seed gives the same ids in i32 and i64; where an i64 does not fit i32, the i32 is -1. False when memory is short.
 */
bool align_generate_ids(const struct align_problem *problem, int topk, enum align_dist dist, uint64_t seed,
                        void *topk_ids, struct error *error);

/** Sets *numel to the sum of `counts` [num_experts]. False, naming --counts, if one is below 0 or the sum too big. */
bool align_counts_check(const int64_t *counts, int num_experts, int64_t *numel, struct error *error);

/** Fills topk_ids with counts[e] times each expert e, in random order. align_counts_check() of `counts` gave numel. */
void align_generate_counts(const struct align_problem *problem, const int64_t *counts, uint64_t seed, void *topk_ids);

/** Fills expert_map [num_experts]: half the experts, rounded up, are local, in random order; the rest are -1. */
void align_generate_map(int num_experts, uint64_t seed, int32_t *expert_map);

/**
 * Fills topk_ids from an array of i32 or i64: element i is its element i % count. A value that the problem's type does
 * not hold becomes -1: either way it names no expert. The array may be empty if numel is 0.
 */
void align_convert_ids(const struct align_problem *problem, const struct npy_array *source, void *topk_ids);

/**
 * Checks a map of i32 or i64 from outside and copies it to expert_map [num_experts]: there must be num_experts values,
 * and those other than -1 must be 0 .. L-1, each once, where L is how many there are. False with one line that names
 * --expert-map, the index and the value, or when memory is short.
 */
bool align_convert_map(const struct npy_array *source, int num_experts, int32_t *expert_map, struct error *error);

#endif
