/**
 * @file gate/reference.h
 * @brief What the gate's right answer is, and how far a right answer may be from it.
 *
 * Scores are computed in double. A kernel computes them in float, so each has an interval: what the score function's
 * error could turn it into, after rounding to the problem's type. Sums and comparisons then work on intervals.
 */
#ifndef GATE_REFERENCE_H
#define GATE_REFERENCE_H

#include "base/error.h"
#include "harness/gate/gate.h"

/** A number, and the least and most that a faithful computation in float can make of it. */
struct interval {
    float low, value, high;
};

/** One expert of a row. */
struct gate_expert {
    struct interval score;     /**< unbiased, in the logits' type; 0 for an invalid expert */
    struct interval own_score; /**< in f32, as if what the row's scores share were known: all but a softmax's sum */
    struct interval choice;    /**< score + bias; -infinity for an invalid expert */
    bool invalid;              /**< the choice is NaN: ranked below every other, weight 0 */
    uint64_t bits;             /**< logit and bias, bit for bit: equal here means a tie in any computation */
};

/** One group of a row. */
struct gate_group {
    struct interval score;
    uint64_t bits[2]; /**< of the experts that make its score, best first */
    bool settled;     /**< no rounding can change which bits those are */
};

/** All that can be said about one row before looking at anybody's answer. */
struct gate_row {
    struct gate_expert *experts; /**< [num_experts] */
    struct gate_group *groups;   /**< [num_expert_group] */
    double *terms;               /**< [num_experts] room for what is added up */
    double shared_error;         /**< relative: how much all scores may be off by together */
    bool ties_are_free;          /**< set by the caller: of a tie either side may win */
};

/**
 * Allocates a row's arrays for a checked problem; gate_row_free() frees them. False, owning nothing, without memory.
 */
bool gate_row_allocate(const struct gate_problem *problem, struct gate_row *row, struct error *error);
void gate_row_free(struct gate_row *row);

/** Works out row number `index` of the input. */
void gate_row_compute(const struct gate_problem *problem, const void *gating_output, const void *correction_bias,
                      int64_t index, struct gate_row *row);

/**
 * True if no faithful computation ranks `b` before `a`: by value, or by the tie rule, where the values are equal after
 * rounding, or `a`, the lower id, has at least b's. Zeros of both signs are equal.
 */
bool gate_expert_certainly_before(const struct gate_row *row, int a, int b);

/** The same for groups. */
bool gate_group_certainly_before(const struct gate_row *row, int a, int b);

/**
 * The interval of the weight of each of the `topk` experts `ids`, chosen from the row, and behind them of each shared
 * expert: `weights` [topk + num_fused_shared_experts].
 */
void gate_row_weights(const struct gate_problem *problem, const struct gate_row *row, const int32_t *ids,
                      struct interval *weights);

/** The reference's own choice, best first: `ids` [topk]. */
void gate_row_choose(const struct gate_problem *problem, const struct gate_row *row, int32_t *ids);

/**
 * Fills the outputs, which are host memory as the inputs are, with the reference's own answer to a checked problem.
 * False when memory is short.
 */
bool gate_reference_compute(const struct gate_problem *problem, const struct gate_buffers *buffers,
                            struct error *error);

#endif
