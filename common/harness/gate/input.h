/** @file gate/input.h  The gate's generated inputs; each distribution provokes a particular kind of error. */
#ifndef GATE_INPUT_H
#define GATE_INPUT_H

#include "base/error.h"
#include "harness/gate/gate.h"

/** Distributions of generated logits. A row depends only on the seed and its index, not on the number of rows. */
enum gate_dist {
    GATE_DIST_NORMAL,  /**< mean 0, standard deviation 1 */
    GATE_DIST_UNIFORM, /**< uniform between -4 and 4 */
    GATE_DIST_ZIPF,    /**< a few experts, different in every row, are far above the others */
    GATE_DIST_TIES,    /**< four distinct values, so that every choice has ties */
    GATE_DIST_EQUAL,   /**< one value per row; in every fourth row, its exp may overflow or underflow */
    GATE_DIST_EXTREME, /**< infinities, the largest and smallest numbers of the type, both zeros */
    GATE_DIST_NAN,     /**< rows with one, several or only NaNs, infinities of both signs, or groups of infinities */
    NUM_GATE_DISTS
};

/** Names of the distributions, "normal", "uniform", ..., in the order of the enum; NULL-terminated. */
extern const char *const gate_dist_names[];

/** Fills gating_output with the distribution. */
void gate_generate_logits(const struct gate_problem *problem, enum gate_dist dist, uint64_t seed, void *gating_output);

/**
 * Fills correction_bias with values of about the same magnitude as a trained router's. For the distributions ties and
 * equal, the bias takes only few values, so that ties remain. For uniform logits, the bias is so low that all choices
 * are negative. For extreme logits, the bias is larger, has both signs, and is -infinity in every third group, which
 * excludes the group. For nan, every fourth group has one +infinity and is otherwise -infinity, which also excludes the
 * group.
 */
void gate_generate_bias(const struct gate_problem *problem, enum gate_dist dist, uint64_t seed, void *correction_bias);

#endif
