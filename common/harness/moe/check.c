#include "harness/moe/check.h"

#include "base/memory.h"
#include "base/random.h"
#include "harness/moe/problem.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits on the work of a check: the largest number of products, and the number of tokens that are always checked. */
static const int64_t MAX_PRODUCTS = (int64_t)1 << 30;
enum { LEAST_TOKENS = 16, SEQUENCE_TOKENS = 2000 };

/* The relative rounding error of f32, and the probability that a check rejects a correct output. */
static const double F32_UNIT = 0x1p-24, FALSE_ALARM = 1e-9;

/** A checked token's choice of a local expert. */
struct choice {
    int64_t token; /**< index among the checked tokens */
    int expert;    /**< local id of the expert */
    double weight;
    int copies; /**< number of the token's choices of this expert, whose errors are not independent */
};

/**
 * An output that is being checked, and the checker's scratch memory. An "error" here is the bound on a value's error
 * or, if errors are independent, the square of that bound; in both cases the errors of a sum's terms add up.
 */
struct examination {
    const struct moe_problem *problem;
    bool independent;
    double deviations; /**< L in check.h, which limits a sum of independent errors */
    bool weighs_last;  /**< whether an expert's output is rounded before, not after, its weight is applied */
    int slices;        /**< number of parts into which the computation of each choice is split, at least 1 */
    const struct moe_host_routing *routing;
    const struct tensors *tensors;
    int64_t num_tokens, num_choices;
    int64_t *tokens;        /**< [num_tokens] in ascending order */
    struct choice *choices; /**< [num_choices], sorted by expert */
    double *hidden;         /**< [num_tokens, H] */
    double *activation;     /**< [num_choices, I] the intermediate, rounded where the result of rounding is certain */
    double *errors;         /**< [num_choices, I] errors of `activation` */
    double *output;         /**< [num_tokens, H] */
    double *output_errors;
    double *output_size; /**< [num_tokens, H] sum of the partial outputs' absolute values */
    float *rows;         /**< [threads, 2, max(H, I)] rows of weights */
    struct error *error;
};

/* --- errors and sums --------------------------------------------------------------------------------------------- */

/** A sum of products: its value, the sum of the products' absolute values, and the error of computing it in f32. */
struct sum {
    double value, size, error;
};

/** Returns the error that corresponds to a bound: the bound itself, or its square if errors are independent. */
static double error_of(const struct examination *exam, double bound)
{
    return exam->independent ? bound * bound : bound;
}

/** Returns the error of `count` roundings of f32 sums whose size is at most `size`; infinite if f32 may overflow. */
static double sum_error(const struct examination *exam, int count, double size)
{
    return size > FLT_MAX ? (double)INFINITY : count * error_of(exam, F32_UNIT * size);
}

/**
 * Returns half an ulp of bf16 at the largest value that may be rounded, `most`, whose ulp may be twice that of the
 * expected value. Returns 0 for f32, whose rounding is part of the errors of sums.
 */
static double half_unit(const struct examination *exam, double most)
{
    int exponent;

    frexp(most, &exponent); /* `most` is 0.5 to 1 times 2^exponent, and bf16 has 8 significant bits */
    return exam->problem->dtype == DTYPE_BF16 && most != 0.0 ? ldexp(0.5, exponent - 8) : 0.0;
}

/** Returns the largest deviation that an error allows. */
static double reach_of(const struct examination *exam, double error)
{
    return exam->independent ? exam->deviations * sqrt(error) : error;
}

static double rounded(const struct examination *exam, double value)
{
    return (double)dtype_round(exam->problem->dtype, (float)value);
}

/**
 * Returns the error of rounding a value to the type if the value's own error, which is at most `reach`, can change the
 * result. If `reach` is less than half an ulp, the value is near the midpoint between two results, and the error is
 * about half an ulp, of either sign. Otherwise all errors up to half an ulp are equally likely, so their mean square is
 * a third of the largest square.
 */
static double type_error(const struct examination *exam, double value, double reach)
{
    const double half = half_unit(exam, fabs(value) + reach);

    return exam->independent && reach >= half ? half * half / 3.0 : error_of(exam, half);
}

/**
 * Rounds a value to the type if the value's error cannot change the result; the result then has no error. Otherwise
 * leaves the value unrounded and adds the error of the rounding, `copies` times, to *error.
 */
static double round_value(const struct examination *exam, double value, int copies, double *error)
{
    const double reach = reach_of(exam, *error);
    const double low = rounded(exam, value - reach), high = rounded(exam, value + reach);

    if (exam->problem->dtype == DTYPE_BF16 && low == high && isfinite(low)) {
        *error = 0.0;
        return low;
    }
    *error += copies * type_error(exam, value, reach);
    return value;
}

static struct sum sum_products(const struct examination *exam, const double *values, const float *weights, int count)
{
    double sum = 0.0, size = 0.0;

#pragma omp simd reduction(+ : sum, size)
    for (int i = 0; i < count; i++) {
        sum += values[i] * (double)weights[i];
        size += fabs(values[i] * (double)weights[i]);
    }
    return (struct sum){sum, size, sum_error(exam, count, size)};
}

/** Returns the error that a sum of products inherits from the values' errors. */
static double passed_error(const struct examination *exam, const double *errors, const float *weights, int count)
{
    double sum = 0.0;

    for (int i = 0; i < count; i++)
        sum += errors[i] * error_of(exam, fabs((double)weights[i]));
    return sum;
}

/* --- choosing what is checked ------------------------------------------------------------------------------------- */

int64_t moe_num_checked_tokens(const struct moe_problem *problem)
{
    const int64_t products = 3 * (int64_t)problem->topk * problem->hidden_size * problem->intermediate_size;
    const int64_t most = MAX_PRODUCTS / products > LEAST_TOKENS ? MAX_PRODUCTS / products : LEAST_TOKENS;

    return problem->num_tokens < most ? problem->num_tokens : most;
}

/** Returns the last token that chose the busiest expert. */
static int64_t busy_token(const struct moe_layer *layer)
{
    const struct align_problem align = moe_align_problem(&layer->problem);
    const int busiest = align_busiest_expert(&align, &layer->routing.groups);
    int64_t position = moe_num_choices(&layer->problem) - 1;

    while (layer->routing.topk_ids[position] != busiest)
        position--;
    return position / layer->problem.topk;
}

static bool choose_tokens(const struct moe_layer *layer, struct examination *exam)
{
    const int64_t n = layer->problem.num_tokens;
    struct random random = random_seed(layer->seed, SEQUENCE_TOKENS);
    const int64_t sure[] = {0, n - 1, busy_token(layer)};
    int64_t chosen = 0;
    bool *taken;

    if (!ALLOCATE_ARRAY(taken, n, exam->error))
        return false;
    memset(taken, exam->num_tokens == n, (size_t)n);
    for (int i = 0; exam->num_tokens < n && chosen < exam->num_tokens; i++) {
        const int64_t token = i < 3 ? sure[i] : random_below(&random, (uint32_t)n);

        chosen += !taken[token];
        taken[token] = true;
    }
    for (int64_t token = 0, t = 0; token < n; token++)
        if (taken[token])
            exam->tokens[t++] = token;
    free(taken);
    return true;
}

static int compare_choices(const void *a, const void *b)
{
    const struct choice *const x = a, *const y = b;

    return x->expert != y->expert ? (x->expert > y->expert) - (x->expert < y->expert)
                                  : (x->token > y->token) - (x->token < y->token);
}

/** Sets `copies` by counting each token's choices of the same expert, which are adjacent in the list. */
static void count_copies(struct examination *exam)
{
    for (int64_t begin = 0, end; begin < exam->num_choices; begin = end) {
        end = begin + 1;
        while (end < exam->num_choices && compare_choices(&exam->choices[end], &exam->choices[begin]) == 0)
            end++;
        for (int64_t c = begin; c < end; c++)
            exam->choices[c].copies = (int)(end - begin);
    }
}

/** Lists the tokens' choices of local experts. */
static void list_choices(struct examination *exam)
{
    const int topk = exam->problem->topk;

    for (int64_t t = 0; t < exam->num_tokens; t++)
        for (int k = 0; k < topk; k++) {
            const int64_t position = exam->tokens[t] * topk + k;
            const int expert = exam->routing->topk_ids[position];
            const int local = exam->routing->expert_map ? exam->routing->expert_map[expert] : expert;

            if (local >= 0)
                exam->choices[exam->num_choices++] = (struct choice){t, local, exam->routing->topk_weights[position],
                                                                     1};
        }
    qsort(exam->choices, (size_t)exam->num_choices, sizeof *exam->choices, compare_choices);
    if (exam->independent)
        count_copies(exam);
}

/** Returns the limit L, defined in check.h, which applies to the intermediate, the partial outputs and the output. */
static double limit_of_deviations(const struct examination *exam)
{
    const double h = exam->problem->hidden_size, intermediate = exam->problem->intermediate_size;
    const double values = (double)exam->num_choices * (intermediate + exam->slices * h) + (double)exam->num_tokens * h;

    return sqrt(2.0 * log(2.0 * values / FALSE_ALARM));
}

static bool allocate_zeros(double **array, int64_t count, struct error *error)
{
    if (!ALLOCATE_ARRAY(*array, count, error))
        return false;
    memset(*array, 0, (size_t)count * sizeof **array);
    return true;
}

static bool examination_start(const struct moe_layer *layer, struct examination *exam)
{
    const struct moe_problem *const problem = exam->problem;
    const int64_t h = problem->hidden_size, i = problem->intermediate_size, n = exam->num_tokens;
    const int64_t choices = n * problem->topk;
    float *row;

    if (!ALLOCATE_ARRAY(exam->tokens, n, exam->error) || !ALLOCATE_ARRAY(exam->choices, choices, exam->error) ||
        !allocate_zeros(&exam->hidden, n * h, exam->error) ||
        !allocate_zeros(&exam->activation, choices * i, exam->error) ||
        !allocate_zeros(&exam->errors, choices * i, exam->error) || !ALLOCATE_ARRAY(exam->output, n * h, exam->error) ||
        !ALLOCATE_ARRAY(exam->output_errors, n * h, exam->error) ||
        !ALLOCATE_ARRAY(exam->output_size, n * h, exam->error) ||
        !ALLOCATE_ARRAY(exam->rows, omp_get_max_threads() * 2 * (h > i ? h : i), exam->error) ||
        !choose_tokens(layer, exam))
        return false;
    list_choices(exam);
    exam->deviations = limit_of_deviations(exam);
    row = exam->rows;
    for (int64_t t = 0; t < n; t++) {
        tensor_read_floats(&exam->tensors->tensor[MOE_TENSOR_HIDDEN], exam->tokens[t] * h, h, row);
        for (int64_t j = 0; j < h; j++)
            exam->hidden[t * h + j] = row[j];
    }
    return true;
}

static void examination_end(struct examination *exam)
{
    free(exam->tokens);
    free(exam->choices);
    free(exam->hidden);
    free(exam->activation);
    free(exam->errors);
    free(exam->output);
    free(exam->output_errors);
    free(exam->output_size);
    free(exam->rows);
}

/** Returns the calling thread's buffer for two rows of weights. */
static float *own_rows(const struct examination *exam)
{
    const int h = exam->problem->hidden_size, i = exam->problem->intermediate_size;

    return exam->rows + (size_t)omp_get_thread_num() * 2 * (h > i ? h : i);
}

/* --- the layer ---------------------------------------------------------------------------------------------------- */

/**
 * Computes silu(gate) * up, with silu(x) = x * sigmoid(x). Its error comes from its inputs, from exp, which may
 * overflow where silu(x) is nearly 0, and from the roundings to f32 and to the type.
 */
static void activate(const struct examination *exam, struct sum gate, struct sum up, int64_t at)
{
    const double sigmoid = 1.0 / (1.0 + exp(-gate.value)), silu = gate.value * sigmoid;
    const double slope = sigmoid * (1.0 + gate.value * (1.0 - sigmoid)), value = silu * up.value;
    const double of_exp = fabs(gate.value) * (1.0 - sigmoid); /* the relative error of e^-x is x times that of x */
    const double own = (8.0 + of_exp) * F32_UNIT * fabs(value) + 1e-36 * (1.0 + fabs(up.value));
    double error = error_of(exam, fabs(slope * up.value)) * gate.error + error_of(exam, fabs(silu)) * up.error +
                   error_of(exam, own);

    exam->activation[at] = round_value(exam, value, 1, &error);
    exam->errors[at] = error;
}

/** Computes the first product and the activation of choices `begin` to `end`, all of one expert. */
static void multiply_w13(const struct examination *exam, int64_t begin, int64_t end)
{
    const int h = exam->problem->hidden_size, intermediate = exam->problem->intermediate_size;
    const int64_t first = (int64_t)exam->choices[begin].expert * 2 * intermediate;

#pragma omp parallel for if (intermediate * (int64_t)h > 1 << 14)
    for (int i = 0; i < intermediate; i++) {
        float *const gate = own_rows(exam), *const up = gate + h;

        tensor_read_floats(&exam->tensors->tensor[MOE_TENSOR_W13], (first + i) * h, h, gate);
        tensor_read_floats(&exam->tensors->tensor[MOE_TENSOR_W13], (first + intermediate + i) * h, h, up);
        for (int64_t c = begin; c < end; c++) {
            const double *const hidden = exam->hidden + exam->choices[c].token * h;

            activate(exam, sum_products(exam, hidden, gate, h), sum_products(exam, hidden, up, h),
                     c * intermediate + i);
        }
    }
}

/**
 * Computes the second product of a choice with one row of w2 and adds it, weighted, to the token: one sum for each
 * slice of the row, rounded to the type because each rank rounds its own sum.
 */
static void add_choice(const struct examination *exam, int64_t c, const float *row, int64_t at)
{
    const double weight = exam->choices[c].weight;
    const double first = exam->weighs_last ? 1.0 : weight, last = exam->weighs_last ? weight : 1.0;
    const int copies = exam->choices[c].copies; /* n equal errors count as at most n^2 independent ones */
    const int intermediate = exam->problem->intermediate_size, length = intermediate / exam->slices;

    for (int i = 0; i < intermediate; i += length) {
        const int64_t from = c * intermediate + i;
        const struct sum sum = sum_products(exam, exam->activation + from, row + i, length);
        const double passed = passed_error(exam, exam->errors + from, row + i, length);
        double error = copies * error_of(exam, fabs(first)) * (sum.error + passed) +
                       error_of(exam, F32_UNIT * first * sum.value);
        const double partial = last * round_value(exam, first * sum.value, copies, &error);

        exam->output[at] += partial;
        exam->output_errors[at] += error_of(exam, fabs(last)) * error;
        exam->output_size[at] += fabs(partial);
    }
}

/** Computes the second product of choices `begin` to `end`, all of one expert, and adds it, weighted, to the tokens. */
static void multiply_w2(const struct examination *exam, int64_t begin, int64_t end)
{
    const int h = exam->problem->hidden_size, intermediate = exam->problem->intermediate_size;
    const int64_t first = (int64_t)exam->choices[begin].expert * h;

#pragma omp parallel for if (intermediate * (int64_t)h > 1 << 14)
    for (int j = 0; j < h; j++) {
        float *const row = own_rows(exam);

        tensor_read_floats(&exam->tensors->tensor[MOE_TENSOR_W2], (first + j) * intermediate, intermediate, row);
        for (int64_t c = begin; c < end; c++)
            add_choice(exam, c, row, exam->choices[c].token * h + j);
    }
}

static void compute(const struct examination *exam)
{
    const size_t bytes = (size_t)(exam->num_tokens * exam->problem->hidden_size) * sizeof(double);

    memset(exam->output, 0, bytes);
    memset(exam->output_errors, 0, bytes);
    memset(exam->output_size, 0, bytes);
    for (int64_t begin = 0, end; begin < exam->num_choices; begin = end) {
        end = begin + 1;
        while (end < exam->num_choices && exam->choices[end].expert == exam->choices[begin].expert)
            end++;
        multiply_w13(exam, begin, end);
        multiply_w2(exam, begin, end);
    }
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/**
 * Returns the error that an element may have before it is rounded to the type; infinite if an intermediate result may
 * exceed the range of f32.
 */
static double tolerance(const struct examination *exam, int64_t at)
{
    return reach_of(exam, exam->output_errors[at] +
                              sum_error(exam, exam->problem->topk * exam->slices, exam->output_size[at]));
}

/** Sets the error for an element, with the violated rule. Returns false. */
static bool fail(const struct examination *exam, int64_t token, int64_t element, const char *rule)
{
    const struct moe_problem *const problem = exam->problem;
    const int32_t *const ids = exam->routing->topk_ids + token * problem->topk;
    char experts[96] = "";
    size_t used = 0;

    for (int k = 0; k < problem->topk && used + 16 < sizeof experts; k++)
        used += (size_t)snprintf(experts + used, sizeof experts - used, "%s%" PRId32, k ? ", " : "", ids[k]);
    return error_set_as(exam->error, RUN_WRONG, "output[%" PRId64 "][%" PRId64 "]: %s (the token's experts: %s)", token,
                        element, rule, experts);
}

static float element_of(const struct examination *exam, int64_t index)
{
    return dtype_load(exam->problem->dtype, exam->tensors->tensor[MOE_TENSOR_OUTPUT].host.data, (size_t)index);
}

/** Checks that no element still holds the poison written before the launch. */
static bool all_is_written(const struct examination *exam)
{
    const struct tensor *const output = &exam->tensors->tensor[MOE_TENSOR_OUTPUT];
    const int h = exam->problem->hidden_size;
    const int64_t count = npy_num_elements(&output->host);
    const uint32_t poison = exam->problem->dtype == DTYPE_F32 ? UINT32_MAX : UINT16_MAX;

    for (int64_t i = 0; i < count; i++)
        if (dtype_bits(exam->problem->dtype, output->host.data, (size_t)i) == poison)
            return fail(exam, i / h, i % h, "it is as before the launch, or was made of what is: not a number");
    return true;
}

/** A checked element, and the interval in which it must lie. */
struct comparison {
    double got, low, high;
    bool right;
};

static struct comparison compare(const struct examination *exam, int64_t i)
{
    const int h = exam->problem->hidden_size;
    const double allowed = tolerance(exam, i);
    struct comparison found = {.got = element_of(exam, exam->tokens[i / h] * h + i % h),
                               .low = rounded(exam, exam->output[i] - allowed),
                               .high = rounded(exam, exam->output[i] + allowed)};

    found.right = (found.got >= found.low - FLT_MIN && found.got <= found.high + FLT_MIN) || !isfinite(allowed);
    return found;
}

/** Sets the error for the first wrong element, including the number of wrong elements. Returns false. */
static bool fail_element(const struct examination *exam, int64_t first)
{
    const int h = exam->problem->hidden_size;
    const struct comparison wrong = compare(exam, first);
    int64_t count = 0, tokens = 0, last = -1;
    char rule[256];

    for (int64_t i = first; i < exam->num_tokens * h; i++) {
        if (compare(exam, i).right)
            continue;
        count++;
        tokens += i / h != last;
        last = i / h;
    }
    snprintf(rule, sizeof rule,
             "expected %.6g, give or take %.2g, got %.6g; %" PRId64 " of the %" PRId64 " outputs checked are wrong, in "
             "%" PRId64 " of %" PRId64 " tokens",
             exam->output[first], fmax(wrong.high - exam->output[first], exam->output[first] - wrong.low), wrong.got,
             count, exam->num_tokens * h, tokens, exam->num_tokens);
    return fail(exam, exam->tokens[first / h], first % h, rule);
}

static bool tokens_are_right(const struct examination *exam)
{
    for (int64_t i = 0; i < exam->num_tokens * exam->problem->hidden_size; i++)
        if (!compare(exam, i).right)
            return fail_element(exam, i);
    return true;
}

/** Returns the number of elements that cannot be compared, because an intermediate result may exceed f32's range. */
static int64_t count_overflowing(const struct examination *exam)
{
    int64_t count = 0;

    for (int64_t i = 0; i < exam->num_tokens * exam->problem->hidden_size; i++)
        count += !isfinite(tolerance(exam, i));
    return count;
}

/**
 * Checks the tokens with the weight applied before or after rounding; if both checks fail, reports the error for the
 * usual order.
 */
static bool either_order_is_right(struct examination *exam)
{
    struct error *const usual = exam->error;
    struct error other = {0};
    bool right;

    compute(exam);
    if (tokens_are_right(exam))
        return true;
    exam->weighs_last = true;
    exam->error = &other;
    compute(exam);
    right = tokens_are_right(exam);
    exam->error = usual;
    if (right)
        *usual = (struct error){0};
    return right;
}

bool moe_check(const struct moe_layer *layer, const struct tensors *tensors, struct error *error)
{
    struct examination exam = {.problem = &layer->problem,
                               .independent = layer->has_only_generated_arrays,
                               .slices = layer->num_intermediate_slices ? layer->num_intermediate_slices : 1,
                               .routing = &layer->routing,
                               .tensors = tensors,
                               .num_tokens = moe_num_checked_tokens(&layer->problem),
                               .error = error};
    bool right;

    if (layer->problem.num_tokens == 0)
        return true;
    if (!all_is_written(&exam))
        return false;
    right = examination_start(layer, &exam);
    right = right && either_order_is_right(&exam);
    if (right && layer->num_uncompared_elements)
        *layer->num_uncompared_elements = count_overflowing(&exam);
    examination_end(&exam);
    return right;
}
