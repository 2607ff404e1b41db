#include "harness/gate/reference.h"

#include "base/memory.h"
#include "harness/gate/problem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool gate_row_allocate(const struct gate_problem *problem, struct gate_row *row, struct error *error)
{
    *row = (struct gate_row){0};
    if (ALLOCATE_ARRAY(row->experts, problem->num_experts, error) &&
        ALLOCATE_ARRAY(row->groups, problem->num_expert_group, error) &&
        ALLOCATE_ARRAY(row->scratch_terms, problem->num_experts, error))
        return true;
    gate_row_free(row);
    return false;
}

void gate_row_free(struct gate_row *row)
{
    free(row->experts);
    free(row->groups);
    free(row->scratch_terms);
    *row = (struct gate_row){0};
}

/* --- scores ------------------------------------------------------------------------------------------------------- */

/*
 * A correct kernel may use: IEEE operations on floats; expf within 2 ulps, as in CUDA; for a score, also a quotient
 * within 2 ulps, such as __fdividef; sums in any order. It must round correctly when it converts to the type and when
 * it divides the weights. Each bound below follows from these rules, for the actual numbers of the row.
 */

/** Returns the ulp of a float of this magnitude. */
static double float_unit(double value)
{
    int exponent;

    frexp(value, &exponent);
    return ldexp(1.0, (exponent > -125 ? exponent : -125) - 24);
}

/**
 * Returns value +- error, rounded to float and then to the type. If the result may be subnormal, 0 is also allowed,
 * because an intermediate result of the textbook sigmoid overflows and hardware may flush subnormals.
 */
static struct interval interval_around(double value, double error, enum dtype dtype)
{
    const double low = value - error < FLT_MIN ? 0.0 : value - error;
    struct interval interval = {
        dtype_round(dtype, (float)low),
        dtype_round(dtype, (float)value),
        dtype_round(dtype, (float)(value + error)),
    };

    return interval;
}

/*
 * Allowance for products of relative errors, all of which are below 2^-20 except the sum's, and for the change of the
 * ulp at a power of two.
 */
static const double SECOND_ORDER = 1.0 + 0x1p-16;

/**
 * Returns the interval of a sigmoid. Let t = exp(-logit). The relative error of t, at most 2^-22, enters 1 / (1 + t)
 * with the factor t / (1 + t), which is 1 - value; the sum adds 2^-24 and the quotient 2 ulps. The same bound holds for
 * exp(logit) / (1 + exp(logit)).
 */
static struct interval sigmoid_interval(double logit, enum dtype dtype)
{
    const double value = 1.0 / (1.0 + exp(-logit));
    const double error = value * ((1.0 - value) * 0x1p-22 + 0x1p-24) + 2.0 * float_unit(value * SECOND_ORDER);

    return interval_around(value, value > 0.0 ? error * SECOND_ORDER : 0.0, dtype);
}

static int larger_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/**
 * Returns a bound on the error of a float sum of these non-negative numbers, for any order and any summation tree.
 * Sorts `terms`.
 *
 * An addition has an error of at most half an ulp of its result. If the inner nodes of any tree are sorted by their
 * numbers of leaves, the i-th has at most i + 1 leaves (a node with n leaves has n - 2 smaller inner nodes below it),
 * so its result is at most the sum of the i + 1 largest terms. A term of less than half an ulp of the total changes the
 * result by at most its own value, even if it is rounded away. If all terms are multiples of `grain`, results up to
 * 2^24 grains are exact. All terms may be larger by a factor of up to 1 + `shared_relative_error`.
 */
static double sum_error(double *terms, int count, double grain, double shared_relative_error)
{
    const double larger = 1.0 + count * 0x1p-22 + shared_relative_error; /* covers errors of partial sums and terms */
    double sum = 0.0, dust = 0.0, so_far = 0.0, error = 0.0, half_unit;

    qsort(terms, count, sizeof *terms, larger_first);
    for (int i = 0; i < count; i++)
        sum += terms[i];
    if (sum * larger <= grain * 0x1p24)
        return 0.0;
    half_unit = 0.5 * float_unit(sum * larger);
    while (count > 1 && terms[count - 1] < half_unit)
        dust += terms[--count];
    for (int i = 0; i < count; i++) {
        so_far += terms[i];
        if (i > 0 && (so_far + dust) * larger > grain * 0x1p24)
            error += 0.5 * float_unit((so_far + dust) * larger);
    }
    return (error + dust) * larger;
}

/** Returns exp(logit - largest). The difference is rounded to a float, as in every correct kernel. */
static double power_of(float logit, float largest)
{
    return exp((double)(logit - largest));
}

/**
 * Computes the scores of a softmax. The exponential may have an error of 2 ulps and the quotient another 2 ulps; these
 * errors are specific to the expert. The error of the sum, which comes from its terms and from their addition, is
 * common to all experts, so it cancels when scores are divided by each other.
 */
static void compute_softmax(const struct gate_problem *problem, const void *gating_output, size_t first, float largest,
                            struct gate_row *row)
{
    const int count = problem->num_experts;
    const double rounding = 0x1p-22 + 0x1p-24; /* rounding of the quotient, and of the interval's ends to float */
    double sum = 0.0, error = 0.0;

    for (int e = 0; e < count; e++) {
        row->scratch_terms[e] = power_of(dtype_load(problem->dtype, gating_output, first + e), largest);
        sum += row->scratch_terms[e];
        error += row->scratch_terms[e] > 0.0 ? 2.0 * float_unit(row->scratch_terms[e]) : 0.0;
    }
    error += sum_error(row->scratch_terms, count, 0.0, 0.0);
    row->shared_relative_error = error / (sum - error);
    for (int e = 0; e < count; e++) {
        const double power = power_of(dtype_load(problem->dtype, gating_output, first + e), largest);
        const double value = power / sum;
        const double own = power > 0.0 ? (2.0 * float_unit(power) / power + rounding) * SECOND_ORDER : 0.0;
        const double least = power > 0.0 ? 2.0 * FLT_TRUE_MIN : 0.0; /* the smallest error of 2 ulps */

        row->experts[e].score_without_shared_error = interval_around(value, value * own + least, DTYPE_F32);
        row->experts[e].score = interval_around(
            value, value * (own + row->shared_relative_error) * SECOND_ORDER + least, problem->dtype);
    }
}

static void compute_scores(const struct gate_problem *problem, const void *gating_output, size_t first,
                           struct gate_row *row)
{
    const bool softmax = problem->score == GATE_SCORE_SOFTMAX;
    float largest = -INFINITY;
    bool has_nan = false;

    for (int e = 0; e < problem->num_experts; e++) {
        const float logit = dtype_load(problem->dtype, gating_output, first + e);

        has_nan |= isnan(logit);
        largest = fmaxf(largest, logit);
    }
    row->shared_relative_error = 0.0;
    if (softmax && !has_nan && !isinf(largest)) {
        compute_softmax(problem, gating_output, first, largest, row);
        return;
    }
    for (int e = 0; e < problem->num_experts; e++) {
        const float logit = softmax ? NAN : dtype_load(problem->dtype, gating_output, first + e);
        const bool sigmoid = problem->score == GATE_SCORE_SIGMOID && !isnan(logit);

        row->experts[e].score = sigmoid ? sigmoid_interval(logit, problem->dtype)
                                        : (struct interval){logit, logit, logit};
        row->experts[e].score_without_shared_error = row->experts[e].score;
    }
}

/** Returns the float sum rounded to the type. Adding in double first does not change the float result. */
static float rounded_sum(enum dtype dtype, float a, float b)
{
    return dtype_round(dtype, (float)((double)a + (double)b));
}

static void compute_choices(const struct gate_problem *problem, const void *gating_output, const void *correction_bias,
                            size_t first, struct gate_row *row)
{
    const enum dtype dtype = gate_choice_dtype(problem);

    for (int e = 0; e < problem->num_experts; e++) {
        const float bias = problem->has_bias ? dtype_load(problem->bias_dtype, correction_bias, e) : 0.0f;
        struct gate_expert *const expert = &row->experts[e];

        expert->choice_score = expert->score;
        if (problem->has_bias) {
            expert->choice_score.low = rounded_sum(dtype, expert->score.low, bias);
            expert->choice_score.value = rounded_sum(dtype, expert->score.value, bias);
            expert->choice_score.high = rounded_sum(dtype, expert->score.high, bias);
        }
        expert->choice_is_nan = isnan(expert->choice_score.value);
        if (expert->choice_is_nan) {
            expert->score = expert->score_without_shared_error = (struct interval){0.0f, 0.0f, 0.0f};
            expert->choice_score = (struct interval){-INFINITY, -INFINITY, -INFINITY};
        }
        expert->logit_and_bias_bits = dtype_bits(problem->dtype, gating_output, first + e);
        if (problem->has_bias)
            expert->logit_and_bias_bits |= (uint64_t)dtype_bits(problem->bias_dtype, correction_bias, e) << 32;
    }
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

/** The two largest numbers of a sequence; they may be equal. */
struct two_largest {
    float first, second;
};

static void offer(struct two_largest *two, float value)
{
    if (value > two->first) {
        two->second = two->first;
        two->first = value;
    } else if (value > two->second) {
        two->second = value;
    }
}

static float group_value(const struct gate_problem *problem, struct two_largest two)
{
    const float sum = rounded_sum(gate_choice_dtype(problem), two.first, two.second);

    return !problem->has_bias ? two.first : isnan(sum) ? -INFINITY : sum;
}

/** Returns whether expert a ranks before b by value; the lower index wins a tie, and invalid experts rank last. */
static bool expert_before(const struct gate_row *row, int a, int b)
{
    if (row->experts[a].choice_is_nan != row->experts[b].choice_is_nan)
        return row->experts[b].choice_is_nan;
    return row->experts[a].choice_score.value > row->experts[b].choice_score.value ||
           (row->experts[a].choice_score.value == row->experts[b].choice_score.value && a < b);
}

/**
 * Finds the experts that determine the group's score, and whether rounding could select experts with different bits.
 */
static void settle_group(const struct gate_problem *problem, struct gate_row *row, int index)
{
    const int size = gate_experts_per_group(problem), begin = index * size, end = begin + size;
    struct gate_group *const group = &row->groups[index];
    int first = begin, second = -1;

    for (int e = begin + 1; e < end; e++)
        if (expert_before(row, e, first))
            first = e;
    for (int e = begin; problem->has_bias && e < end; e++)
        if (e != first && (second < 0 || expert_before(row, e, second)))
            second = e;

    const struct gate_expert *const last = &row->experts[problem->has_bias ? second : first];

    group->best_expert_bits[0] = row->experts[first].logit_and_bias_bits;
    group->best_expert_bits[1] = problem->has_bias ? last->logit_and_bias_bits : 0;
    group->bits_are_certain = !last->choice_is_nan;
    for (int e = begin; e < end; e++) {
        const bool beaten = row->experts[e].choice_score.high < last->choice_score.low;

        if (!beaten && e != first && row->experts[e].logit_and_bias_bits != last->logit_and_bias_bits)
            group->bits_are_certain = false;
    }
}

static void compute_groups(const struct gate_problem *problem, struct gate_row *row)
{
    const int size = gate_experts_per_group(problem);

    for (int g = 0; g < problem->num_expert_group; g++) {
        struct two_largest low = {-INFINITY, -INFINITY}, value = low, high = low;

        for (int e = g * size; e < (g + 1) * size; e++) {
            offer(&low, row->experts[e].choice_score.low);
            offer(&value, row->experts[e].choice_score.value);
            offer(&high, row->experts[e].choice_score.high);
        }
        row->groups[g].score = (struct interval){group_value(problem, low), group_value(problem, value),
                                                 group_value(problem, high)};
        settle_group(problem, row, g);
    }
}

void gate_row_compute_intervals(const struct gate_problem *problem, const void *gating_output,
                                const void *correction_bias, int64_t index, struct gate_row *row)
{
    const size_t first = (size_t)index * problem->num_experts;

    compute_scores(problem, gating_output, first, row);
    compute_choices(problem, gating_output, correction_bias, first, row);
    compute_groups(problem, row);
}

/* --- order -------------------------------------------------------------------------------------------------------- */

/**
 * Returns whether every number of the first interval is larger than every number of the second; if a < b and the tie
 * rule applies, equality suffices.
 */
static bool certainly_ahead(const struct gate_row *row, int a, int b, struct interval first, struct interval second)
{
    return first.low > second.high || (!row->any_tie_order_allowed && a < b && first.low >= second.high);
}

bool gate_expert_certainly_before(const struct gate_row *row, int a, int b)
{
    const struct gate_expert *const first = &row->experts[a], *const second = &row->experts[b];

    if (first->choice_is_nan != second->choice_is_nan)
        return second->choice_is_nan;
    return certainly_ahead(row, a, b, first->choice_score, second->choice_score) ||
           (!row->any_tie_order_allowed && a < b && first->logit_and_bias_bits == second->logit_and_bias_bits);
}

bool gate_group_certainly_before(const struct gate_row *row, int a, int b)
{
    const struct gate_group *const first = &row->groups[a], *const second = &row->groups[b];

    return certainly_ahead(row, a, b, first->score, second->score) ||
           (!row->any_tie_order_allowed && a < b && first->bits_are_certain && second->bits_are_certain &&
            memcmp(first->best_expert_bits, second->best_expert_bits, sizeof first->best_expert_bits) == 0);
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

/** The sum of the chosen scores before it is rounded to a float. */
struct weight_sum {
    double low, value, high;
    double error;      /**< additional error of the additions, in either direction */
    bool may_overflow; /**< whether a partial sum exceeds the range of float in some order of additions */
};

/**
 * Returns the score that is divided by the sum. In f32, only the expert's own error counts, because the shared error
 * cancels.
 */
static struct interval divided_score(const struct gate_problem *problem, const struct gate_expert *expert)
{
    return problem->dtype == DTYPE_F32 ? expert->score_without_shared_error : expert->score;
}

/** Returns the largest power of two of which all floats in the interval are multiples, or infinity for 0. */
static double grain_of(struct interval interval)
{
    const double unit = float_unit(fminf(fabsf(interval.low), fabsf(interval.high)));
    const bool known = isfinite(interval.low) && interval.low == interval.high;
    const int64_t units = known ? (int64_t)(interval.low / unit) : 1;

    return units == 0 ? INFINITY : unit * (double)(units & -units);
}

/** Adds up the chosen scores, as an interval with an error that covers every order of float additions. */
static struct weight_sum sum_scores(const struct gate_problem *problem, const struct gate_row *row, const int32_t *ids)
{
    struct weight_sum sum = {0};
    double size = 0.0, grain = INFINITY;

    for (int k = 0; k < problem->topk; k++) {
        const struct interval score = divided_score(problem, &row->experts[ids[k]]);

        sum.low += score.low;
        sum.value += score.value;
        sum.high += score.high;
        row->scratch_terms[k] = fmax(fabs(score.low), fabs(score.high));
        size += row->scratch_terms[k];
        grain = fmin(grain, grain_of(row->experts[ids[k]].score));
    }
    sum.may_overflow = !(size <= FLT_MAX);
    if (isfinite(size))
        sum.error = sum_error(row->scratch_terms, problem->topk, grain, row->shared_relative_error) /
                    (1.0 - row->shared_relative_error);
    return sum;
}

static float rounded(enum dtype dtype, double value)
{
    return dtype_round(dtype, (float)value);
}

/**
 * Rounds a sum to the type. In f32, the sum is unchanged: its error already includes the rounding, whose position
 * depends on the factor that the scores share.
 */
static double rounded_total(enum dtype dtype, double value)
{
    const float nearest = rounded(dtype, value);

    return dtype == DTYPE_F32 && isfinite(nearest) ? value : nearest;
}

/** Divides a score by the sum. A sum of 0 leaves the score unchanged; a non-finite sum makes the weight 0. */
static struct interval renormalized(enum dtype dtype, struct interval score, const struct weight_sum *sum)
{
    const struct interval nothing = {0.0f, 0.0f, 0.0f};
    const double value = rounded_total(dtype, sum->value);
    const double low = rounded_total(dtype, sum->low - sum->error), high = rounded_total(dtype, sum->high + sum->error);
    struct interval weight;

    if (!isfinite(value))
        return nothing;
    if (low == 0.0 && high == 0.0) {
        weight = score;
    } else if (low > 0.0 || high < 0.0) {
        /*
         * A score near one end of its interval also shifts the sum. Only the f32 case uses this relation; after
         * rounding to 16 bits, a score has too few possible values.
         */
        const double width = dtype == DTYPE_F32 ? (double)score.high - score.low : 0.0;
        const float corners[4] = {rounded(dtype, score.low / low),
                                  rounded(dtype, score.low / rounded_total(dtype, sum->high - width + sum->error)),
                                  rounded(dtype, score.high / rounded_total(dtype, sum->low + width - sum->error)),
                                  rounded(dtype, score.high / high)};

        weight = (struct interval){corners[0], rounded(dtype, score.value / value), corners[0]};
        for (int i = 1; i < 4; i++) {
            weight.low = fminf(weight.low, corners[i]);
            weight.high = fmaxf(weight.high, corners[i]);
        }
    } else if (score.low == 0.0f && score.high == 0.0f) {
        weight = nothing;
    } else { /* the sum may be close to 0 and have either sign */
        weight = (struct interval){-INFINITY, score.value, INFINITY};
    }
    if (sum->may_overflow || !isfinite(low) || !isfinite(high)) {
        weight.low = fminf(weight.low, 0.0f);
        weight.high = fmaxf(weight.high, 0.0f);
    }
    return weight;
}

/**
 * Returns the interval of dividend / divisor in the type, with 2 ulps of error, and including 0 if it may underflow.
 */
static struct interval quotient_interval(enum dtype dtype, double dividend, double divisor)
{
    const double value = dividend / divisor;
    const double error = isfinite(value) ? 2.0 * float_unit(value * SECOND_ORDER) : 0.0;
    const bool vanishes = fabs(value) - error < FLT_MIN;

    return (struct interval){
        rounded(dtype, vanishes ? fmin(value - error, 0.0) : value - error),
        rounded(dtype, value),
        rounded(dtype, vanishes ? fmax(value + error, 0.0) : value + error),
    };
}

static struct interval interval_over(struct interval a, struct interval b)
{
    return (struct interval){fminf(a.low, b.low), a.value, fmaxf(a.high, b.high)};
}

/**
 * Returns the interval of (sum / factor) / sum for a sum between `low` and `high`, which have the same sign and are not
 * 0. The exact value is 1 / factor; the interval allows 2 ulps for each quotient and half an ulp, also among
 * subnormals, for rounding the first quotient to the type.
 */
static struct interval inverse_of_factor(enum dtype dtype, double factor, double low, double high)
{
    const double half_place = dtype == DTYPE_F16 ? 0x1p-11 : dtype == DTYPE_BF16 ? 0x1p-8 : 0x1p-24;
    const double smallest = dtype == DTYPE_F16 ? 0x1p-25 : FLT_MIN;
    const double least = fmin(fabs(low), fabs(high)) / fabs(factor);
    const double error = (half_place + smallest / least + 0x1p-21) * SECOND_ORDER / fabs(factor);

    return interval_over(quotient_interval(dtype, 1.0 / factor - error, 1.0),
                         quotient_interval(dtype, 1.0 / factor + error, 1.0));
}

/**
 * Returns a shared expert's weight before scaling: the sum divided by the factor, and then divided by the sum like the
 * other weights.
 */
static struct interval shared_weight(const struct gate_problem *problem, const struct weight_sum *sum)
{
    const enum dtype dtype = problem->dtype;
    const double factor = problem->routed_scaling_factor, value = rounded_total(dtype, sum->value);
    const double low = rounded_total(dtype, sum->low - sum->error), high = rounded_total(dtype, sum->high + sum->error);
    const struct interval nothing = {0.0f, 0.0f, 0.0f};
    const struct interval score = interval_over(quotient_interval(dtype, low, factor),
                                                quotient_interval(dtype, high, factor));
    struct interval weight = score;

    if (!problem->renormalize || (low == 0.0 && high == 0.0))
        return weight;
    if (!isfinite(value))
        return nothing;
    if (low == high)
        weight = interval_over(quotient_interval(dtype, score.low, low), quotient_interval(dtype, score.high, low));
    else if (low > 0.0 || high < 0.0)
        weight = inverse_of_factor(dtype, factor, low, high);
    else /* the sum may be close to 0 and have either sign */
        weight = (struct interval){-INFINITY, 0.0f, INFINITY};
    weight.value = value == 0.0 ? 0.0f : rounded(dtype, rounded(dtype, value / factor) / value);
    return sum->may_overflow || !isfinite(low) || !isfinite(high) ? interval_over(weight, nothing) : weight;
}

static struct interval scaled(struct interval weight, float scale)
{
    return (struct interval){
        fminf(weight.low * scale, weight.high * scale),
        weight.value * scale,
        fmaxf(weight.low * scale, weight.high * scale),
    };
}

void gate_row_compute_weights(const struct gate_problem *problem, const struct gate_row *row, const int32_t *ids,
                              struct interval *weights)
{
    const struct weight_sum sum = sum_scores(problem, row, ids);
    const float scale = gate_output_scale(problem);

    for (int k = 0; k < problem->topk; k++) {
        const struct gate_expert *const expert = &row->experts[ids[k]];
        const struct interval weight = problem->renormalize
                                           ? renormalized(problem->dtype, divided_score(problem, expert), &sum)
                                           : expert->score;

        weights[k] = scaled(weight, scale);
    }
    for (int k = problem->topk; k < gate_experts_per_token(problem); k++)
        weights[k] = scaled(shared_weight(problem, &sum), scale);
}

/* --- the reference's own choice ----------------------------------------------------------------------------------- */

/** Returns the number of groups that rank before `group`. The group is kept if this number is less than topk_group. */
static int group_rank(const struct gate_problem *problem, const struct gate_row *row, int group)
{
    int before = 0;

    for (int g = 0; g < problem->num_expert_group; g++)
        before += row->groups[g].score.value > row->groups[group].score.value ||
                  (row->groups[g].score.value == row->groups[group].score.value && g < group);
    return before;
}

void gate_row_choose_experts(const struct gate_problem *problem, const struct gate_row *row, int32_t *ids)
{
    int length = 0;

    for (int e = 0; e < problem->num_experts; e++) {
        int slot = length;

        if (group_rank(problem, row, e / gate_experts_per_group(problem)) >= problem->topk_group) {
            e += gate_experts_per_group(problem) - 1; /* skips to the next group's first expert */
            continue;
        }
        while (slot > 0 && expert_before(row, e, ids[slot - 1]))
            slot--;
        if (slot == problem->topk)
            continue;
        length += length < problem->topk;
        memmove(ids + slot + 1, ids + slot, (length - slot - 1) * sizeof *ids);
        ids[slot] = e;
    }
}

bool gate_reference_compute(const struct gate_problem *problem, const struct gate_buffers *buffers, struct error *error)
{
    const int width = gate_experts_per_token(problem);
    struct interval *weights;
    struct gate_row row;

    if (!ALLOCATE_ARRAY(weights, width, error))
        return false;
    if (!gate_row_allocate(problem, &row, error)) {
        free(weights);
        return false;
    }
    row.any_tie_order_allowed = false;
    for (int64_t t = 0; t < problem->num_tokens; t++) {
        int32_t *const ids = buffers->topk_ids + t * width;

        gate_row_compute_intervals(problem, buffers->gating_output, buffers->correction_bias, t, &row);
        gate_row_choose_experts(problem, &row, ids);
        gate_row_compute_weights(problem, &row, ids, weights);
        for (int k = 0; k < width; k++) {
            if (k >= problem->topk)
                ids[k] = problem->num_experts + k - problem->topk;
            buffers->topk_weights[t * width + k] = weights[k].value;
        }
    }
    free(weights);
    gate_row_free(&row);
    return true;
}
