/**
 * @file gate/reference.h
 * @brief The gate's reference answer and the intervals that the checker accepts.
 *
 * Scores are computed in double. A kernel computes scores in float, so each score has an interval: the values that are
 * possible with the allowed error of the score function, rounded to the problem's type. Sums and comparisons use these
 * intervals.
 */
#ifndef GATE_REFERENCE_H
#define GATE_REFERENCE_H

#include "base/error.h"
#include "harness/gate/gate.h"

/** A value, with the smallest and the largest result of a correct computation in float. */
struct interval {
    float low, value, high;
};

/** The values of one expert in one row. */
struct gate_expert {
    struct interval score; /**< unbiased score, in the logits' type; 0 for an invalid expert */
    /** F32 score without the error of the softmax sum (shared_relative_error). */
    struct interval score_without_shared_error;
    struct interval choice_score; /**< score + bias; -infinity for an invalid expert */
    bool choice_is_nan;           /**< whether the choice is NaN: the expert then ranks last, and its weight is 0 */
    uint64_t logit_and_bias_bits; /**< bits of logit and bias; equal bits are a tie in any computation */
};

/** A group of a row. */
struct gate_group {
    struct interval score;
    uint64_t best_expert_bits[2]; /**< bits of the experts that determine its score, best first */
    bool bits_are_certain;        /**< whether no rounding can change these bits */
};

/** The intervals of one row. They depend only on the input, not on the answer under check. */
struct gate_row {
    struct gate_expert *experts;  /**< [num_experts] */
    struct gate_group *groups;    /**< [num_expert_group] */
    double *scratch_terms;        /**< [num_experts] scratch memory for sums */
    double shared_relative_error; /**< relative error that all scores of the row share */
    bool any_tie_order_allowed;   /**< set by the caller: whether either side of a tie may win */
};

/** Allocates a row's arrays for a checked problem; gate_row_free() frees them. Returns false if out of memory. */
bool gate_row_allocate(const struct gate_problem *problem, struct gate_row *row, struct error *error);
void gate_row_free(struct gate_row *row);

/** Computes the intervals of row `index` of the input. */
void gate_row_compute_intervals(const struct gate_problem *problem, const void *gating_output,
                                const void *correction_bias, int64_t index, struct gate_row *row);

/**
 * Returns whether no correct computation ranks `b` before `a`: a's value is certainly larger, the bits are equal and
 * the tie rule decides, or `a` is the lower id and its value is certainly at least b's. Zeros of either sign compare
 * equal.
 */
bool gate_expert_certainly_before(const struct gate_row *row, int a, int b);

/** Returns whether no correct computation ranks group `b` before group `a`. */
bool gate_group_certainly_before(const struct gate_row *row, int a, int b);

/**
 * Computes the intervals of the weights for the chosen experts `ids` [topk], followed by those for the shared experts:
 * `weights` [topk + num_fused_shared_experts].
 */
void gate_row_compute_weights(const struct gate_problem *problem, const struct gate_row *row, const int32_t *ids,
                              struct interval *weights);

/** Chooses the experts of the reference's own answer, best first: `ids` [topk]. */
void gate_row_choose_experts(const struct gate_problem *problem, const struct gate_row *row, int32_t *ids);

/**
 * Fills the outputs with the reference's own answer to a checked problem. All arrays are in host memory. Returns false
 * if out of memory.
 */
bool gate_reference_compute(const struct gate_problem *problem, const struct gate_buffers *buffers,
                            struct error *error);

#endif
