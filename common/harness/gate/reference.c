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
        ALLOCATE_ARRAY(row->groups, problem->num_expert_group, error))
        return true;
    gate_row_free(row);
    return false;
}

void gate_row_free(struct gate_row *row)
{
    free(row->experts);
    free(row->groups);
    *row = (struct gate_row){0};
}

/* --- scores ------------------------------------------------------------------------------------------------------- */

/** One unit in the last place of a float of this size. */
static double float_unit(double value)
{
    int exponent;

    frexp(value, &exponent);
    return ldexp(1.0, (exponent > -125 ? exponent : -125) - 24);
}

/**
 * value +- error, rounded to float and then to the type. What is below the normal floats may come out as 0: the
 * textbook sigmoid overflows on the way there, and hardware may flush.
 */
static struct interval interval_around(double value, double error, enum dtype dtype)
{
    const double low = fabs(value) < FLT_MIN ? 0.0 : value - error;
    struct interval interval = {
        dtype_round(dtype, (float)low),
        dtype_round(dtype, (float)value),
        dtype_round(dtype, (float)(value + error)),
    };

    return interval;
}

/** Sigmoid in float is good to 4 units in the last place: two for exp, one each for the sum and the quotient. */
static struct interval sigmoid_interval(double logit, enum dtype dtype)
{
    const double value = 1.0 / (1.0 + exp(-logit));

    return interval_around(value, 4.0 * float_unit(value), dtype);
}

/**
 * Softmax in float: the error of x - max reaches exp as an absolute one, a sum of E terms adds up to E roundings, exp,
 * quotient and the rest stay within 12: relative (12 + |x - max| + E) units of 2^-24.
 */
static struct interval softmax_interval(double logit, double largest, double sum, int num_experts, enum dtype dtype)
{
    const double value = exp(logit - largest) / sum;
    const double error = value * (12.0 + fabs(logit - largest) + num_experts) * 0x1p-24;

    return interval_around(value, value > 0.0 ? error + FLT_TRUE_MIN : 0.0, dtype);
}

static void compute_scores(const struct gate_problem *problem, const void *gating_output, size_t first,
                           struct gate_expert *experts)
{
    double largest = -INFINITY, sum = 0.0;
    bool has_nan = false;

    for (int e = 0; e < problem->num_experts; e++) {
        const double logit = dtype_load(problem->dtype, gating_output, first + e);

        has_nan |= isnan(logit) != 0;
        largest = fmax(largest, logit);
    }
    for (int e = 0; e < problem->num_experts; e++)
        sum += exp(dtype_load(problem->dtype, gating_output, first + e) - largest);

    for (int e = 0; e < problem->num_experts; e++) {
        const float logit = dtype_load(problem->dtype, gating_output, first + e);

        if (isnan(logit) || (problem->score == GATE_SCORE_SOFTMAX && (has_nan || isinf(largest))))
            experts[e].score = (struct interval){NAN, NAN, NAN};
        else if (problem->score == GATE_SCORE_SIGMOID)
            experts[e].score = sigmoid_interval(logit, problem->dtype);
        else if (problem->score == GATE_SCORE_SOFTMAX)
            experts[e].score = softmax_interval(logit, largest, sum, problem->num_experts, problem->dtype);
        else
            experts[e].score = (struct interval){logit, logit, logit};
    }
}

/** The sum as float arithmetic gives it (a double holds the sum of two floats well enough), in the type. */
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

        expert->choice = expert->score;
        if (problem->has_bias) {
            expert->choice.low = rounded_sum(dtype, expert->score.low, bias);
            expert->choice.value = rounded_sum(dtype, expert->score.value, bias);
            expert->choice.high = rounded_sum(dtype, expert->score.high, bias);
        }
        expert->invalid = isnan(expert->choice.value);
        if (expert->invalid) {
            expert->score = (struct interval){0.0f, 0.0f, 0.0f};
            expert->choice = (struct interval){-INFINITY, -INFINITY, -INFINITY};
        }
        expert->bits = dtype_bits(problem->dtype, gating_output, first + e);
        if (problem->has_bias)
            expert->bits |= (uint64_t)dtype_bits(problem->bias_dtype, correction_bias, e) << 32;
        if (row->ties_are_free)
            expert->bits = (uint64_t)e;
    }
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

/** The two largest of a sequence; the second may equal the first. */
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

/** Ranks by the value in the middle; of equals the lower index, and invalid experts last. */
static bool expert_before(const struct gate_row *row, int a, int b)
{
    if (row->experts[a].invalid != row->experts[b].invalid)
        return row->experts[b].invalid;
    return row->experts[a].choice.value > row->experts[b].choice.value ||
           (row->experts[a].choice.value == row->experts[b].choice.value && a < b);
}

/** Finds whose bits make the group's score, and whether rounding could make it anybody else's. */
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

    group->bits[0] = row->experts[first].bits;
    group->bits[1] = problem->has_bias ? last->bits : 0;
    group->settled = !last->invalid;
    for (int e = begin; e < end; e++) {
        const bool beaten = row->experts[e].choice.high < last->choice.low;

        if (!beaten && e != first && row->experts[e].bits != last->bits)
            group->settled = false;
    }
}

static void compute_groups(const struct gate_problem *problem, struct gate_row *row)
{
    const int size = gate_experts_per_group(problem);

    for (int g = 0; g < problem->num_expert_group; g++) {
        struct two_largest low = {-INFINITY, -INFINITY}, value = low, high = low;

        for (int e = g * size; e < (g + 1) * size; e++) {
            offer(&low, row->experts[e].choice.low);
            offer(&value, row->experts[e].choice.value);
            offer(&high, row->experts[e].choice.high);
        }
        row->groups[g].score = (struct interval){group_value(problem, low), group_value(problem, value),
                                                 group_value(problem, high)};
        settle_group(problem, row, g);
    }
}

void gate_row_compute(const struct gate_problem *problem, const void *gating_output, const void *correction_bias,
                      int64_t index, struct gate_row *row)
{
    const size_t first = (size_t)index * problem->num_experts;

    compute_scores(problem, gating_output, first, row->experts);
    compute_choices(problem, gating_output, correction_bias, first, row);
    compute_groups(problem, row);
}

/* --- order -------------------------------------------------------------------------------------------------------- */

bool gate_expert_certainly_before(const struct gate_row *row, int a, int b)
{
    if (row->experts[a].invalid != row->experts[b].invalid)
        return row->experts[b].invalid;
    if (row->experts[a].bits == row->experts[b].bits)
        return a < b;
    return row->experts[a].choice.low > row->experts[b].choice.high;
}

bool gate_group_certainly_before(const struct gate_row *row, int a, int b)
{
    const struct gate_group *const first = &row->groups[a], *const second = &row->groups[b];

    return first->score.low > second->score.high ||
           (a < b && first->settled && second->settled && memcmp(first->bits, second->bits, sizeof first->bits) == 0);
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

/** The sum of the chosen scores, and whether some order of additions leaves the range of float on the way. */
struct weight_sum {
    struct interval interval;
    bool may_overflow;
};

/** Any order of additions in float, then the type. */
static struct weight_sum sum_scores(const struct gate_problem *problem, const struct gate_row *row, const int32_t *ids)
{
    double low = 0.0, value = 0.0, high = 0.0, size = 0.0;

    for (int k = 0; k < problem->topk; k++) {
        const struct interval score = row->experts[ids[k]].score;

        low += score.low;
        value += score.value;
        high += score.high;
        size += fmax(fabs(score.low), fabs(score.high));
    }

    const double error = (problem->topk - 1) * 0x1p-24 * size;
    struct weight_sum sum;

    sum.interval.low = dtype_round(problem->dtype, (float)(low - error));
    sum.interval.value = dtype_round(problem->dtype, (float)value);
    sum.interval.high = dtype_round(problem->dtype, (float)(high + error));
    sum.may_overflow = size > FLT_MAX || !isfinite(sum.interval.low) || !isfinite(sum.interval.high);
    return sum;
}

static float rounded_quotient(enum dtype dtype, float a, float b)
{
    return dtype_round(dtype, (float)((double)a / (double)b));
}

/** score / sum for a sum that is certainly finite and certainly not 0. */
static struct interval quotient_interval(enum dtype dtype, struct interval score, struct interval sum)
{
    const float corners[4] = {rounded_quotient(dtype, score.low, sum.low), rounded_quotient(dtype, score.low, sum.high),
                              rounded_quotient(dtype, score.high, sum.low),
                              rounded_quotient(dtype, score.high, sum.high)};
    struct interval quotient = {corners[0], rounded_quotient(dtype, score.value, sum.value), corners[0]};

    for (int i = 1; i < 4; i++) {
        quotient.low = fminf(quotient.low, corners[i]);
        quotient.high = fmaxf(quotient.high, corners[i]);
    }
    return quotient;
}

/** What dividing by the sum makes of a score; 0 divides nothing, and a sum that is not finite makes the weight 0. */
static struct interval renormalized(enum dtype dtype, struct interval score, struct weight_sum sum)
{
    const struct interval nothing = {0.0f, 0.0f, 0.0f};
    struct interval weight;

    if (!isfinite(sum.interval.value))
        return nothing;
    if (sum.interval.low == 0.0f && sum.interval.high == 0.0f)
        weight = score;
    else if (sum.interval.low > 0.0f || sum.interval.high < 0.0f)
        weight = quotient_interval(dtype, score, sum.interval);
    else if (score.low == 0.0f && score.high == 0.0f)
        weight = nothing;
    else /* the sum may be next to 0, on either side */
        weight = (struct interval){-INFINITY, score.value, INFINITY};

    if (sum.may_overflow) {
        weight.low = fminf(weight.low, 0.0f);
        weight.high = fmaxf(weight.high, 0.0f);
    }
    return weight;
}

void gate_row_weights(const struct gate_problem *problem, const struct gate_row *row, const int32_t *ids,
                      struct interval *weights)
{
    const struct weight_sum sum = sum_scores(problem, row, ids);
    const float scale = problem->routed_scaling_factor;

    for (int k = 0; k < problem->topk; k++) {
        struct interval weight = row->experts[ids[k]].score;

        if (problem->renormalize)
            weight = renormalized(problem->dtype, weight, sum);
        weights[k].value = weight.value * scale;
        weights[k].low = fminf(weight.low * scale, weight.high * scale);
        weights[k].high = fmaxf(weight.low * scale, weight.high * scale);
    }
}

/* --- the reference's own choice ----------------------------------------------------------------------------------- */

/** How many groups rank before group g; it stays if they are fewer than topk_group. */
static int group_rank(const struct gate_problem *problem, const struct gate_row *row, int group)
{
    int before = 0;

    for (int g = 0; g < problem->num_expert_group; g++)
        before += row->groups[g].score.value > row->groups[group].score.value ||
                  (row->groups[g].score.value == row->groups[group].score.value && g < group);
    return before;
}

void gate_row_choose(const struct gate_problem *problem, const struct gate_row *row, int32_t *ids)
{
    int length = 0;

    for (int e = 0; e < problem->num_experts; e++) {
        int place = length;

        if (group_rank(problem, row, e / gate_experts_per_group(problem)) >= problem->topk_group) {
            e += gate_experts_per_group(problem) - 1; /* to the next group's first */
            continue;
        }
        while (place > 0 && expert_before(row, e, ids[place - 1]))
            place--;
        if (place == problem->topk)
            continue;
        length += length < problem->topk;
        memmove(ids + place + 1, ids + place, (length - place - 1) * sizeof *ids);
        ids[place] = e;
    }
}
