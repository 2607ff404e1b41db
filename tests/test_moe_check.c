/**
 * @file test_moe_check.c  Tests the layer's checker: it accepts a layer computed with f32 sums and rejects each fault.
 */
#include "harness/moe/check.h"
#include "harness/moe/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a layer computed row by row in f32, and its faults --- */

enum fault {
    NO_FAULT,
    BF16_SUMS,       /* the first product is summed in bf16 */
    BF16_SUMS_W2,    /* the second product is summed in bf16 */
    SKIPPED_STEP,    /* the first product's sums lack their last 16 elements */
    SKIPPED_STEP_W2, /* the second product's sums lack their last 16 elements */
    SWAPPED_HALVES,  /* the rows of up and gate are exchanged */
    NEIGHBOUR,       /* one choice uses the next expert's weights */
    LOST_WEIGHT,     /* one choice counts as if its weight were 1 */
    LOST_ROW,        /* one choice is left out of the sum */
    PAD_ADDED,       /* padding counts as the last position: an expert's output is added to the last token */
    UNWRITTEN,       /* the last element of the last token is not written */
    ONE_ELEMENT,     /* one element is wrong by a twentieth of the usual size */
    NUM_FAULTS,
    TRUNCATED = NUM_FAULTS, /* bf16 only: the intermediate values are truncated, not rounded */
    TRUNCATED_PARTIAL,      /* the experts' weighted outputs are truncated */
    ROUNDED_HALVES,         /* the halves that SwiGLU multiplies are rounded first */
    BF16_CHOICES,           /* a token's choices are summed in bf16 */
    SLOT_OFF,               /* the last choice of each token is too large by 1/256 */
    NUM_BF16_FAULTS,
    WEIGHED_LAST = NUM_BF16_FAULTS /* no fault: an expert's output is rounded before it is weighted */
};

static const char *const fault_names[NUM_BF16_FAULTS] = {
    "none",           "bf16 sums",     "bf16 sums in w2", "a skipped step",    "a skipped step in w2",
    "halves swapped", "the neighbour", "lost weight",     "lost row",          "a pad added",
    "unwritten",      "one element",   "truncated",       "truncated partial", "rounded halves",
    "bf16 choices",   "slot off"};

/** A layer, its tensors, their values in f32, and the fault that is injected into its computation. */
struct bench {
    struct moe_layer layer;
    struct tensors tensors;
    float *hidden, *w13, *w2;
    enum fault fault;
};

static float dot(const float *values, const float *weights, int count, bool in_bf16)
{
    float sum = 0.0f;

    for (int k = 0; k < count; k++) {
        sum = fmaf(values[k], weights[k], sum);
        sum = in_bf16 ? dtype_round(DTYPE_BF16, sum) : sum;
    }
    return sum;
}

/** Rounds to the type or, if `truncate` is true, truncates. */
static float to_type(enum dtype dtype, float value, bool truncate)
{
    const float nearest = dtype_round(dtype, value);

    return truncate && fabsf(nearest) > fabsf(value) ? dtype_round(dtype, nextafterf(value - (nearest - value), 0.0f))
                                                     : nearest;
}

/** Adds an expert's output, times the weight, to `sums` [H], like a kernel that computes in f32 and in the type. */
static void add_expert(const struct bench *bench, int64_t token, int expert, float weight, float *sums)
{
    const struct moe_problem *const problem = &bench->layer.problem;
    const int h = problem->hidden_size, intermediate = problem->intermediate_size;
    const int64_t first = (int64_t)expert * 2 * intermediate;
    const int steps = bench->fault == SKIPPED_STEP ? h - 16 : h;
    const int steps_w2 = bench->fault == SKIPPED_STEP_W2 ? intermediate - 16 : intermediate;
    const float *const hidden = bench->hidden + token * h;
    float *const activation = malloc((size_t)intermediate * sizeof *activation);

    for (int i = 0; i < intermediate; i++) {
        float halves[2];

        for (int half = 0; half < 2; half++) {
            const float *const row = bench->w13 + (first + half * intermediate + i) * h;

            halves[half != (bench->fault == SWAPPED_HALVES)] = dot(hidden, row, steps, bench->fault == BF16_SUMS);
        }
        for (int half = 0; bench->fault == ROUNDED_HALVES && half < 2; half++)
            halves[half] = dtype_round(problem->dtype, halves[half]);
        activation[i] = to_type(problem->dtype, halves[0] / (1.0f + expf(-halves[0])) * halves[1],
                                bench->fault == TRUNCATED);
    }
    for (int j = 0; j < h; j++) {
        const float *const row = bench->w2 + ((int64_t)expert * h + j) * intermediate;
        const float sum = dot(activation, row, steps_w2, bench->fault == BF16_SUMS_W2);

        sums[j] += bench->fault == WEIGHED_LAST
                       ? weight * dtype_round(problem->dtype, sum)
                       : to_type(problem->dtype, weight * sum, bench->fault == TRUNCATED_PARTIAL);
        if (bench->fault == BF16_CHOICES)
            sums[j] = dtype_round(problem->dtype, sums[j]);
    }
    free(activation);
}

/** Computes the output of one token, with the fault of `bench` injected. */
static void compute_token(const struct bench *bench, int64_t token)
{
    const struct moe_problem *const problem = &bench->layer.problem;
    const struct moe_host_routing *const routing = &bench->layer.routing;
    const bool last = token == problem->num_tokens - 1;
    float *const sums = calloc((size_t)problem->hidden_size, sizeof *sums);

    for (int k = 0; k < problem->topk; k++) {
        const int64_t position = token * problem->topk + k;
        const bool spoilt = last && k == problem->topk - 1;
        const int expert = routing->topk_ids[position] + (spoilt && bench->fault == NEIGHBOUR);
        const int local = routing->expert_map ? routing->expert_map[expert % problem->num_experts]
                                              : expert % problem->num_experts;

        if (local >= 0 && !(spoilt && bench->fault == LOST_ROW))
            add_expert(bench, token, local,
                       spoilt && bench->fault == LOST_WEIGHT ? 1.0f
                       : k == problem->topk - 1 && bench->fault == SLOT_OFF
                           ? 257.0f / 256.0f * routing->topk_weights[position]
                           : routing->topk_weights[position],
                       sums);
        if (spoilt && bench->fault == PAD_ADDED)
            add_expert(bench, token, (routing->topk_ids[position] + 1) % problem->num_local_experts,
                       routing->topk_weights[position], sums);
    }
    for (int j = 0; j < problem->hidden_size; j++)
        dtype_store(problem->dtype, bench->tensors.tensor[MOE_TENSOR_OUTPUT].host.data,
                    (size_t)(token * problem->hidden_size + j), sums[j]);
    free(sums);
}

static void compute(struct bench *bench, enum fault fault)
{
    const struct moe_problem *const problem = &bench->layer.problem;
    const size_t last = (size_t)(problem->num_tokens * problem->hidden_size - 1);
    void *const output = bench->tensors.tensor[MOE_TENSOR_OUTPUT].host.data;

    bench->fault = fault;
    for (int64_t token = 0; token < problem->num_tokens; token++)
        compute_token(bench, token);
    if (fault == ONE_ELEMENT)
        dtype_store(problem->dtype, output, last, dtype_load(problem->dtype, output, last) + 0.05f);
    if (fault == UNWRITTEN)
        memset((char *)output + last * dtype_size(problem->dtype), MOE_POISON_BYTE, dtype_size(problem->dtype));
}

/* --- layers --- */

/** Returns a matrix's values, which the caller frees. */
static float *values_of(const struct tensor *tensor, int64_t num_rows, int64_t row_elements)
{
    float *const values = malloc((size_t)(num_rows * row_elements + 1) * sizeof *values);

    for (int64_t row = 0; row < num_rows; row++)
        tensor_read_floats(tensor, row * row_elements, row_elements, values + row * row_elements);
    return values;
}

static struct bench set_up(struct moe_problem problem, uint64_t seed, const char *map)
{
    const struct moe_implementation implementation = {.name = "test"};
    struct moe_options options = moe_options_default();
    struct error error = {0};
    struct bench bench;

    options.problem = problem;
    options.program.num_tokens = problem.num_tokens;
    options.program.seed = seed;
    options.expert_map_option = map;
    options.hidden_size_given = options.intermediate_size_given = options.num_experts_given = true;
    options.topk_given = options.program.num_tokens_given = true;
    if (!moe_prepare_problem_and_tensors(&options, &implementation, false, &bench.layer, &bench.tensors, &error))
        fail_msg("%s", error.text);

    const int64_t num_experts = bench.layer.problem.num_local_experts;
    const int h = problem.hidden_size, intermediate = problem.intermediate_size;

    bench.hidden = values_of(&bench.tensors.tensor[MOE_TENSOR_HIDDEN], problem.num_tokens, h);
    bench.w13 = values_of(&bench.tensors.tensor[MOE_TENSOR_W13], num_experts * 2 * intermediate, h);
    bench.w2 = values_of(&bench.tensors.tensor[MOE_TENSOR_W2], num_experts * h, intermediate);
    return bench;
}

static void tear_down(struct bench *bench)
{
    free(bench->hidden);
    free(bench->w13);
    free(bench->w2);
    tensors_free(&bench->tensors);
    moe_host_routing_free(&bench->layer.routing);
}

static void refuses(struct bench *bench, enum fault fault, const char *words)
{
    struct error error = {0};

    compute(bench, fault);
    if (moe_check(&bench->layer, &bench->tensors, &error))
        fail_msg("%s, %s: it is taken for right", fault_names[fault], dtype_name(bench->layer.problem.dtype));
    assert_int_equal(error.exit_code, RUN_WRONG);
    if (!strstr(error.text, words))
        fail_msg("%s: '%s' is not in: %s", fault_names[fault], words, error.text);
}

static void passes_with(struct bench *bench, enum fault fault)
{
    struct error error = {0};

    compute(bench, fault);
    if (!moe_check(&bench->layer, &bench->tensors, &error))
        fail_msg("%s", error.text);
}

static void passes(struct bench *bench)
{
    passes_with(bench, NO_FAULT);
}

#define LAYER(type, tokens, hidden, intermediate, experts, chosen) \
    ((struct moe_problem){.dtype = type,                           \
                          .num_tokens = tokens,                    \
                          .hidden_size = hidden,                   \
                          .intermediate_size = intermediate,       \
                          .num_experts = experts,                  \
                          .topk = chosen})

/** Checks that a layer without a fault is accepted and that every fault is rejected. */
static void refuses_every_fault(struct moe_problem problem, uint64_t seed)
{
    struct bench bench = set_up(problem, seed, "none");

    passes(&bench);
    for (enum fault fault = BF16_SUMS; fault < NUM_FAULTS; fault++)
        refuses(&bench, fault, fault == UNWRITTEN ? "as before the launch" : "expected");
    tear_down(&bench);
}

/** Checks that a bf16 layer is accepted whether it weights or rounds first, and that incorrect rounding is rejected. */
static void refuses_every_rounding(struct moe_problem problem, uint64_t seed)
{
    struct bench bench = set_up(problem, seed, "none");

    passes(&bench);
    passes_with(&bench, WEIGHED_LAST);
    for (enum fault fault = TRUNCATED; fault < NUM_BF16_FAULTS; fault++)
        refuses(&bench, fault, "expected");
    tear_down(&bench);
}

/* --- tests --- */

static void roundings(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        refuses_every_rounding(LAYER(DTYPE_BF16, 12, 128, 64, 8, 4), seed);
        refuses_every_rounding(LAYER(DTYPE_BF16, 3, 192, 33, 5, 3), seed);
    }
}

/** Tests that 300 correct layers of different shapes pass. */
static void no_false_alarm(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct bench bench = set_up(LAYER(seed % 4 ? DTYPE_BF16 : DTYPE_F32, 1 + seed % 7, 1 + seed * 37 % 300,
                                          1 + seed * 53 % 130, 1 + seed % 5, 1 + seed % 6),
                                    seed, seed % 3 ? "none" : "random");

        passes(&bench);
        passes_with(&bench, WEIGHED_LAST);
        tear_down(&bench);
    }
}

/**
 * Tests layers in which an expert's output may be on either side of a power of two, where the ulp of bf16 doubles. The
 * bounds of all errors are added up, as for arrays from files.
 */
static void next_to_a_power_of_two(void **state)
{
    static const uint64_t seeds[] = {2261, 4831, 4939};

    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct bench bench = set_up(LAYER(DTYPE_BF16, 4, 64, 64, 8, 4), seeds[i], "none");

        bench.layer.has_only_generated_arrays = false;
        passes(&bench);
        tear_down(&bench);
    }
}

static void small_layers(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        refuses_every_fault(LAYER(DTYPE_F32, 12, 128, 64, 8, 4), seed);
        refuses_every_fault(LAYER(DTYPE_BF16, 12, 128, 64, 8, 4), seed);
        refuses_every_fault(LAYER(DTYPE_F32, 3, 33, 17, 3, 2), seed);
    }
}

/** Tests sums of DeepSeek-V3's length: rounding errors are larger, and 16 missing elements matter less. */
static void long_sums(void **state)
{
    (void)state;
    refuses_every_fault(LAYER(DTYPE_BF16, 2, 7168, 256, 2, 2), 1);
    refuses_every_fault(LAYER(DTYPE_F32, 1, 256, 2048, 2, 2), 1);
}

/** Tests that non-local experts add nothing, and that tokens routed to them are still checked. */
static void experts_elsewhere(void **state)
{
    struct bench bench = set_up(LAYER(DTYPE_BF16, 20, 64, 64, 8, 3), 1, "random");

    (void)state;
    passes(&bench);
    assert_int_equal(bench.layer.problem.num_local_experts, 4);
    refuses(&bench, ONE_ELEMENT, "output[19][63]: expected");
    tear_down(&bench);
}

/** Tests that an expert's weights are the same whether the whole layer or only part of it is generated. */
static void weights_go_with_their_experts(void **state)
{
    struct bench all = set_up(LAYER(DTYPE_F32, 4, 16, 8, 6, 2), 1, "none");
    struct bench some = set_up(LAYER(DTYPE_F32, 4, 16, 8, 6, 2), 1, "random");
    const int elements = 2 * 8 * 16;
    float whole[2 * 8 * 16], part[2 * 8 * 16];

    (void)state;
    for (int local = 0; local < 3; local++) {
        const int expert = some.layer.routing.local_experts[local];

        tensor_read_floats(&all.tensors.tensor[MOE_TENSOR_W13], (int64_t)expert * elements, elements, whole);
        tensor_read_floats(&some.tensors.tensor[MOE_TENSOR_W13], (int64_t)local * elements, elements, part);
        assert_memory_equal(whole, part, sizeof whole);
    }
    tear_down(&all);
    tear_down(&some);
}

/** Tests a layer too large for every token to be checked: wrong outputs of tokens 0 and 17 must be found. */
static void a_sample(void **state)
{
    struct bench bench = set_up(LAYER(DTYPE_BF16, 30, 4096, 5600, 1, 1), 1, "none");
    const int64_t checked = moe_num_checked_tokens(&bench.layer.problem);
    struct tensor *const output = &bench.tensors.tensor[MOE_TENSOR_OUTPUT];
    struct error error = {0};

    (void)state;
    assert_in_range(checked, 16, 29);
    memset(output->host.data, 0, tensor_bytes(output));
    assert_false(moe_check(&bench.layer, &bench.tensors, &error));
    assert_non_null(strstr(error.text, "output[0][0]: expected "));
    assert_non_null(strstr(error.text, " outputs checked are wrong, in "));
    memset((char *)output->host.data + 2 * 17 * 4096, MOE_POISON_BYTE, 2);
    assert_false(moe_check(&bench.layer, &bench.tensors, &error));
    assert_non_null(strstr(error.text, "output[17][0]: it is as before the launch"));
    tear_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_layers),      cmocka_unit_test(long_sums),
        cmocka_unit_test(experts_elsewhere), cmocka_unit_test(weights_go_with_their_experts),
        cmocka_unit_test(a_sample),          cmocka_unit_test(roundings),
        cmocka_unit_test(no_false_alarm),    cmocka_unit_test(next_to_a_power_of_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
