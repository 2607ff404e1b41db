/** @file gate/input.h  The gate's generated inputs, each distribution with a known shape of trouble. */
#ifndef GATE_INPUT_H
#define GATE_INPUT_H

#include "base/error.h"
#include "harness/gate/gate.h"

/** How generated logits are spread. Each row depends on the seed and its number only, not on how many there are. */
enum gate_dist {
    GATE_DIST_NORMAL,  /**< mean 0, deviation 1 */
    GATE_DIST_UNIFORM, /**< -4 to 4 */
    GATE_DIST_ZIPF,    /**< few experts far ahead of the rest, another order in every row */
    GATE_DIST_TIES,    /**< four levels: every choice meets equal values */
    GATE_DIST_EQUAL,   /**< one value a row; in every fourth one whose exp is nothing, or all there is */
    GATE_DIST_EXTREME, /**< infinities, the largest and smallest numbers of the type, both zeros */
    GATE_DIST_NAN,     /**< rows with one NaN, some, only NaN, infinities of both signs, groups of nothing else */
    GATE_DIST_COUNT
};

/** "normal", "uniform", ..., in the order of the enum; NULL ends them. */
extern const char *const gate_dist_names[];

/** Fills gating_output with the distribution. */
void gate_generate_logits(const struct gate_problem *problem, enum gate_dist dist, uint64_t seed, void *gating_output);

/**
 * Fills correction_bias with values of the size a trained router has; few levels when the logits are full of ties; so
 * low that scores of 0 to 1 become choices below 0 when the logits are uniform; for extreme logits larger ones of both
 * signs, and -infinity for every third group, which excludes it as a whole; for nan every fourth group has an infinity
 * and else -infinity, which exclude it as well.
 */
void gate_generate_bias(const struct gate_problem *problem, enum gate_dist dist, uint64_t seed, void *correction_bias);

#endif
