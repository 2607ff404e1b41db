/**
 * @file test_gate_check.c  Tests the gate's checker on correct answers and on each kind of wrong answer, and the gate's
 * input.
 */
#include "harness/gate/check.h"
#include "harness/gate/input.h"
#include "harness/gate/options.h"
#include "harness/gate/problem.h"
#include "harness/gate/reference.h"
#include "harness/gate/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A problem, its input and an answer that a test may modify. */
struct bench {
    struct gate_problem problem;
    struct tensors tensors;
    float *weights; /* `weights` and `ids` point into the tensors */
    int32_t *ids;
};

static struct gate_problem deepseek(int64_t num_tokens)
{
    const struct gate_problem problem = {
        .num_tokens = num_tokens,
        .num_experts = 256,
        .num_expert_group = 8,
        .topk_group = 4,
        .topk = 8,
        .has_bias = true,
        .renormalize = true,
        .routed_scaling_factor = 2.5f,
    };
    return problem;
}

static struct gate_buffers buffers_of(const struct bench *bench)
{
    return gate_buffers_at(&bench->tensors, TENSOR_ON_HOST);
}

static float *logits_of(const struct bench *bench)
{
    return bench->tensors.tensor[GATE_TENSOR_GATING_OUTPUT].host.data;
}

static float *bias_of(const struct bench *bench)
{
    return bench->tensors.tensor[GATE_TENSOR_CORRECTION_BIAS].host.data;
}

/** Generates the input and fills the outputs with the reference's answer. */
static struct bench set_up(struct gate_problem problem, enum gate_dist dist, uint64_t seed)
{
    struct bench bench = {.problem = problem};
    struct gate_buffers buffers;
    struct error error;

    assert_true(gate_problem_check(&problem, &error));
    assert_true(gate_tensors_allocate_host(&problem, &bench.tensors, &error));
    gate_generate_logits(&problem, dist, seed, logits_of(&bench));
    if (problem.has_bias)
        gate_generate_bias(&problem, dist, seed, bias_of(&bench));
    buffers = buffers_of(&bench);
    bench.weights = buffers.topk_weights;
    bench.ids = buffers.topk_ids;
    assert_true(gate_reference_compute(&problem, &buffers, &(struct error){0}));
    return bench;
}

static void tear_down(struct bench *bench)
{
    tensors_free(&bench->tensors);
}

static enum run_exit_code verdict_of(const struct bench *bench, enum gate_tie_rule ties, struct error *error)
{
    const struct gate_buffers buffers = buffers_of(bench);
    bool right;

    *error = (struct error){0};
    right = gate_check(&bench->problem, &buffers, ties, error);
    assert_int_equal(right, error->exit_code == RUN_VERIFIED);
    return error->exit_code;
}

static void assert_right(const struct bench *bench)
{
    struct error error;

    if (verdict_of(bench, GATE_TIES_LOWER_WINS, &error) != RUN_VERIFIED)
        fail_msg("a right answer was refused: %s", error.text);
}

/**
 * Fails the test unless the answer is rejected at `token` and the error message gives a rule that contains `words`, the
 * expected value and the actual value.
 */
static void assert_wrong(const struct bench *bench, int64_t token, const char *words)
{
    const char *rule, *expected, *got;
    long long at;
    struct error error;

    assert_int_equal(verdict_of(bench, GATE_TIES_LOWER_WINS, &error), RUN_WRONG);
    rule = strstr(error.text, ": ");
    expected = strstr(error.text, "; expected ");
    got = strstr(error.text, ", got ");
    if (sscanf(error.text, "token %lld", &at) != 1 || !rule || !expected || !got)
        fail_msg("%s: not the line of a failure", error.text);
    assert_int_equal(at, token);
    assert_non_null(strstr(got, "; wrong: "));
    assert_true(rule < expected && expected + strlen("; expected ") < got && got[strlen(", got ")]);
    rule = strstr(rule, words);
    if (!rule || rule > expected)
        fail_msg("%s: not refused for \"%s\"", error.text, words);
}

/* --- right answers ------------------------------------------------------------------------------------------------ */

static void the_reference_passes_everywhere(void **state)
{
    static const int shapes[][4] = {{256, 8, 4, 8}, {160, 8, 3, 6}, {384, 16, 4, 8}, {64, 1, 1, 6},
                                    {32, 4, 4, 32}, {7, 1, 1, 7},   {128, 64, 5, 9}};

    (void)state;
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        for (int dist = 0; dist < NUM_GATE_DISTS; dist++)
            for (int form = 0; form < 3 * 3 * 3 * 2; form++) {
                struct gate_problem problem = deepseek(19);
                struct bench bench;

                problem.num_experts = shapes[shape][0];
                problem.num_expert_group = shapes[shape][1];
                problem.topk_group = shapes[shape][2];
                problem.topk = shapes[shape][3];
                problem.dtype = (enum dtype)(form % 3);
                problem.score = (enum gate_score)(form / 3 % 3);
                problem.has_bias = form / 9 % 3 > 0;
                problem.bias_dtype = form / 9 % 3 == 1 ? DTYPE_F32 : problem.dtype;
                problem.renormalize = form / 27 > 0;
                bench = set_up(problem, (enum gate_dist)dist, 7);
                assert_right(&bench);
                tear_down(&bench);
            }
}

static void no_tokens_are_right(void **state)
{
    struct bench bench = set_up(deepseek(0), GATE_DIST_NORMAL, 1);

    (void)state;
    assert_right(&bench);
    tear_down(&bench);
}

/* --- wrong answers ------------------------------------------------------------------------------------------------ */

static void ids_out_of_range_are_rejected(void **state)
{
    static const int32_t wrong[] = {-1, 256, INT32_MIN, INT32_MAX};
    struct bench bench = set_up(deepseek(5), GATE_DIST_NORMAL, 1);
    const int32_t right = bench.ids[3 * 8 + 7];

    (void)state;
    for (int i = 0; i < 4; i++) {
        bench.ids[3 * 8 + 7] = wrong[i];
        assert_wrong(&bench, 3, "every id names an expert");
    }
    bench.ids[3 * 8 + 7] = right;
    assert_right(&bench);
    tear_down(&bench);
}

static void an_unwritten_element_is_rejected(void **state)
{
    struct bench bench = set_up(deepseek(5), GATE_DIST_NORMAL, 1);

    (void)state;
    memset(&bench.weights[4 * 8 + 2], 0xff, sizeof(float)); /* the poison with which outputs are initialised */
    assert_wrong(&bench, 4, "a weight is");
    tear_down(&bench);
}

static void an_expert_twice_is_rejected(void **state)
{
    struct bench bench = set_up(deepseek(5), GATE_DIST_NORMAL, 1);
    struct error error;

    (void)state;
    bench.ids[2 * 8 + 5] = bench.ids[2 * 8 + 1];
    assert_int_equal(verdict_of(&bench, GATE_TIES_LOWER_WINS, &error), RUN_WRONG);
    assert_non_null(strstr(error.text,
                           " is chosen twice, again at slot 5 (8 different experts expected); wrong: 1 of 5 "
                           "tokens; try: take each chosen expert out"));
    tear_down(&bench);
}

/** Returns an expert of a group that holds none of the token's choices. */
static int expert_elsewhere(const struct bench *bench, int64_t token)
{
    const int size = gate_experts_per_group(&bench->problem);

    for (int g = 0; g < bench->problem.num_expert_group; g++) {
        bool used = false;

        for (int k = 0; k < bench->problem.topk; k++)
            used |= bench->ids[token * bench->problem.topk + k] / size == g;
        if (!used)
            return g * size;
    }
    fail_msg("every group is used");
    return 0;
}

static void too_many_groups_are_rejected(void **state)
{
    struct gate_problem problem = deepseek(5);
    struct bench bench;

    (void)state;
    problem.topk_group = 1;
    bench = set_up(problem, GATE_DIST_NORMAL, 1);
    bench.ids[7] = expert_elsewhere(&bench, 0);
    assert_wrong(&bench, 0, "the kept groups");
    tear_down(&bench);
}

/** Replaces the outputs with the answer to logits that are -60 for `group` at `token`, so that the group is not
 * kept. */
static void answer_without_group(struct bench *bench, int64_t token, int group)
{
    const int size = gate_experts_per_group(&bench->problem);
    float *const logits = logits_of(bench), *const row = logits + token * bench->problem.num_experts;
    const struct gate_buffers buffers = buffers_of(bench);
    float kept[64];

    memcpy(kept, row + group * size, size * sizeof *kept);
    for (int e = 0; e < size; e++)
        row[group * size + e] = -60.0f;
    assert_true(gate_reference_compute(&bench->problem, &buffers, &(struct error){0}));
    memcpy(row + group * size, kept, size * sizeof *kept);
}

static void a_group_that_should_stay_is_missed(void **state)
{
    struct bench bench = set_up(deepseek(3), GATE_DIST_NORMAL, 3);
    const int best_group = bench.ids[1 * 8] / 32;

    (void)state;
    answer_without_group(&bench, 1, best_group);
    assert_wrong(&bench, 1, "the best groups are kept");
    tear_down(&bench);
}

static void a_worse_expert_of_the_right_group_is_rejected(void **state)
{
    struct bench bench = set_up(deepseek(3), GATE_DIST_NORMAL, 3);
    const int last = bench.ids[2 * 8 + 7], group = last / 32;

    (void)state;
    for (int e = group * 32; e < group * 32 + 32; e++) {
        bool taken = false;

        for (int k = 0; k < 8; k++)
            taken |= bench.ids[2 * 8 + k] == e;
        if (!taken) {
            bench.ids[2 * 8 + 7] = e;
            break;
        }
    }
    assert_wrong(&bench, 2, "the best are chosen");
    tear_down(&bench);
}

/** Sets up one row of three groups with two experts each, without a bias, and an answer of two ids. */
static struct bench two_of_three_groups(const float row[6], int first, int second)
{
    const struct gate_problem problem = {.num_tokens = 1,
                                         .num_experts = 6,
                                         .num_expert_group = 3,
                                         .topk_group = 2,
                                         .topk = 2,
                                         .renormalize = true,
                                         .routed_scaling_factor = 1.0f};
    struct bench bench = set_up(problem, GATE_DIST_NORMAL, 1);

    memcpy(logits_of(&bench), row, 6 * sizeof *row);
    bench.ids[0] = first, bench.ids[1] = second;
    return bench;
}

static void experts_of_a_group_not_used_are_missed(void **state)
{
    /* The first group must be kept, and it has the best experts. */
    struct bench bench = two_of_three_groups((float[]){3.0f, 2.5f, 2.0f, 1.0f, -5.0f, -5.0f}, 2, 3);

    (void)state;
    assert_wrong(&bench, 0, "the best are chosen");
    tear_down(&bench);
    /* Either of the last two groups must be kept, and each has a better expert than the second chosen expert. */
    bench = two_of_three_groups((float[]){3.0f, 1.0f, 2.0f, 0.0f, 2.0f, 0.0f}, 0, 1);
    assert_wrong(&bench, 0, "the best are chosen");
    tear_down(&bench);
}

static void the_wrong_order_is_rejected(void **state)
{
    struct bench bench = set_up(deepseek(3), GATE_DIST_NORMAL, 3);
    const int32_t id = bench.ids[8];
    const float weight = bench.weights[8];

    (void)state;
    bench.ids[8] = bench.ids[9], bench.ids[9] = id;
    bench.weights[8] = bench.weights[9], bench.weights[9] = weight;
    assert_wrong(&bench, 1, "best first");
    tear_down(&bench);
}

static void a_weight_slightly_off_is_rejected(void **state)
{
    struct bench bench = set_up(deepseek(3), GATE_DIST_NORMAL, 3);
    const float right = bench.weights[10];

    (void)state;
    bench.weights[10] = right * (1.0f + 1e-5f);
    assert_wrong(&bench, 1, "a weight is");
    bench.weights[10] = right * (1.0f - 1e-5f);
    assert_wrong(&bench, 1, "a weight is");
    bench.weights[10] = nextafterf(right, INFINITY);
    assert_right(&bench);
    tear_down(&bench);
}

static void a_weight_of_nan_is_rejected(void **state)
{
    struct bench bench = set_up(deepseek(3), GATE_DIST_NORMAL, 3);

    (void)state;
    bench.weights[2 * 8 + 7] = NAN;
    assert_wrong(&bench, 2, "a weight is");
    tear_down(&bench);
}

static void biased_weights_are_rejected(void **state)
{
    struct bench bench = set_up(deepseek(3), GATE_DIST_NORMAL, 3);

    (void)state;
    for (int k = 0; k < 8; k++)
        bench.weights[k] += 0.1f;
    assert_wrong(&bench, 0, "a weight is");
    tear_down(&bench);
}

/* --- ties and invalid experts ------------------------------------------------------------------------------------- */

static void ties_go_to_the_lower_expert_and_group(void **state)
{
    struct gate_problem problem = deepseek(2);
    struct bench bench;

    (void)state;
    problem.has_bias = false;
    bench = set_up(problem, GATE_DIST_EQUAL, 5);
    for (int k = 0; k < 8; k++)
        assert_int_equal(bench.ids[k], k);
    bench.ids[0] = 1, bench.ids[1] = 0;
    assert_wrong(&bench, 0, "of equal choices the lower expert comes first");
    bench.ids[0] = 0, bench.ids[1] = 8;
    assert_wrong(&bench, 0, "of equal choices the lower expert is chosen");
    for (int k = 0; k < 8; k++)
        bench.ids[k] = 4 * 32 + k; /* group 4 is not among the four lowest groups */
    assert_wrong(&bench, 0, "the best groups are kept");
    assert_int_equal(verdict_of(&bench, GATE_TIES_EITHER_WINS, &(struct error){0}), RUN_VERIFIED);
    tear_down(&bench);
}

static void a_group_may_win_by_rounding(void **state)
{
    /* Two groups whose sums differ by less than the sigmoid's error: either may be kept. */
    struct gate_problem problem = deepseek(1);
    struct bench bench;
    float *logits;

    (void)state;
    problem.num_experts = 8;
    problem.num_expert_group = 2;
    problem.topk_group = 1;
    problem.topk = 2;
    bench = set_up(problem, GATE_DIST_EQUAL, 5);
    logits = logits_of(&bench);
    memset(bias_of(&bench), 0, 8 * sizeof(float));
    for (int e = 0; e < 8; e++)
        logits[e] = -2.0f + 0.1f * e;
    logits[2] = 1.0f, logits[3] = 0.5f;
    logits[6] = 1.0f, logits[7] = nextafterf(0.5f, 1.0f);
    bench.ids[0] = 2, bench.ids[1] = 3;
    for (int turn = 0; turn < 2; turn++) {
        const double first = 1.0 / (1.0 + exp(-1.0)), second = 1.0 / (1.0 + exp(-0.5));

        bench.weights[0] = (float)(2.5 * first / (first + second));
        bench.weights[1] = (float)(2.5 * second / (first + second));
        assert_right(&bench);
        bench.ids[0] = 6, bench.ids[1] = 7;
    }
    bench.ids[0] = 2, bench.ids[1] = 7;
    assert_wrong(&bench, 0, "the kept groups");
    tear_down(&bench);
}

static void nan_ranks_below_everything_and_weighs_nothing(void **state)
{
    struct gate_problem problem = deepseek(1);
    struct bench bench;
    float *logits;

    (void)state;
    problem.num_expert_group = problem.topk_group = 1;
    bench = set_up(problem, GATE_DIST_NORMAL, 5);
    logits = logits_of(&bench);
    for (int e = 0; e < 256; e++)
        if (e % 64 != 5)
            logits[e] = NAN;

    const struct gate_buffers buffers = buffers_of(&bench);

    assert_true(gate_reference_compute(&problem, &buffers, &(struct error){0}));
    assert_right(&bench);
    for (int k = 0; k < 4; k++)
        assert_int_equal(bench.ids[k] % 64, 5);
    for (int k = 4; k < 8; k++)
        assert_true(bench.weights[k] == 0.0f);
    bench.weights[6] = 0.25f;
    assert_wrong(&bench, 0, "a weight is");
    bench.weights[6] = 0.0f;
    bench.ids[3] = 6; /* an expert with NaN ahead of an expert with a number */
    bench.weights[3] = 0.0f;
    assert_wrong(&bench, 0, "the best are chosen");
    tear_down(&bench);
}

static void a_softmax_row_with_one_nan_is_invalid_throughout(void **state)
{
    struct gate_problem problem = deepseek(1);
    struct bench bench;

    (void)state;
    problem.score = GATE_SCORE_SOFTMAX;
    bench = set_up(problem, GATE_DIST_NORMAL, 5);
    logits_of(&bench)[200] = NAN;
    assert_wrong(&bench, 0, "the best are chosen");
    for (int k = 0; k < 8; k++)
        bench.ids[k] = k;
    assert_wrong(&bench, 0, "a weight is");
    for (int k = 0; k < 8; k++)
        bench.weights[k] = 0.0f;
    assert_right(&bench);
    tear_down(&bench);
}

static void the_first_wrong_token_is_named(void **state)
{
    struct bench bench = set_up(deepseek(300), GATE_DIST_NORMAL, 1);

    (void)state;
    bench.ids[299 * 8] = -5;
    bench.ids[41 * 8] = -5;
    assert_wrong(&bench, 41, "every id names an expert");
    tear_down(&bench);
}

/* --- exactly defined results -------------------------------------------------------------------------------------- */

/** Stores `count` values in an array of this type. */
static void store_all(enum dtype dtype, void *array, const float *values, int count)
{
    for (int i = 0; i < count; i++)
        dtype_store(dtype, array, i, values[i]);
}

/** Computes the answer of a gate that compares experts in f32; PyTorch rounds score + bias to their common type. */
static void answer_with_wide_choices(const struct bench *bench)
{
    struct gate_problem wide = bench->problem;
    struct gate_buffers buffers = buffers_of(bench);
    float bias[256];

    for (int e = 0; e < 256; e++)
        bias[e] = dtype_load(bench->problem.bias_dtype, buffers.correction_bias, e);
    wide.bias_dtype = DTYPE_F32;
    buffers.correction_bias = bias;
    assert_true(gate_reference_compute(&wide, &buffers, &(struct error){0}));
}

static void choices_that_are_not_rounded_are_rejected(void **state)
{
    (void)state;
    for (int type = DTYPE_F16; type <= DTYPE_BF16; type++) {
        struct gate_problem problem = deepseek(2048);
        struct bench bench;
        struct error error;

        problem.dtype = problem.bias_dtype = (enum dtype)type;
        bench = set_up(problem, GATE_DIST_NORMAL, 3);
        assert_right(&bench);
        answer_with_wide_choices(&bench);
        assert_int_equal(verdict_of(&bench, GATE_TIES_LOWER_WINS, &error), RUN_WRONG);
        tear_down(&bench);
    }
}

static void a_group_sum_that_is_not_rounded_is_rejected(void **state)
{
    /* In bf16 both sums round to 1 (the second is 1 + 2^-8, halfway to the next number), so the first group is kept. */
    static const float logits[] = {1.0f, 0x1p-9f, 1.0f, 0x1p-8f}, no_bias[4] = {0.0f};
    struct gate_problem problem = deepseek(1);
    struct bench bench;

    (void)state;
    problem.num_experts = 4;
    problem.num_expert_group = 2;
    problem.topk_group = problem.topk = 1;
    problem.score = GATE_SCORE_NONE;
    problem.dtype = problem.bias_dtype = DTYPE_BF16;
    bench = set_up(problem, GATE_DIST_NORMAL, 3);
    store_all(DTYPE_BF16, logits_of(&bench), logits, 4);
    store_all(DTYPE_BF16, bias_of(&bench), no_bias, 4);
    bench.weights[0] = 2.5f;
    bench.ids[0] = 0;
    assert_right(&bench);
    bench.ids[0] = 2;
    assert_wrong(&bench, 0, "the best groups are kept");
    assert_int_equal(verdict_of(&bench, GATE_TIES_EITHER_WINS, &(struct error){0}), RUN_VERIFIED);
    tear_down(&bench);
}

static void a_weight_that_is_not_rounded_is_rejected(void **state)
{
    struct gate_problem problem = deepseek(40);
    struct bench bench;
    int64_t wrong = 0;

    (void)state;
    problem.dtype = DTYPE_BF16;
    problem.routed_scaling_factor = 1.0f;
    bench = set_up(problem, GATE_DIST_NORMAL, 3);
    for (int i = 0; i < 40 * 8; i++) {
        const float right = bench.weights[i];

        for (float other = -1.0f; other <= 1.0f; other += 2.0f) {
            bench.weights[i] = nextafterf(right, other);
            wrong += verdict_of(&bench, GATE_TIES_LOWER_WINS, &(struct error){0}) == RUN_WRONG;
        }
        bench.weights[i] = right;
    }
    assert_int_equal(wrong, 40 * 8 * 2); /* each score, the sum and the quotient have exactly one correct value */
    tear_down(&bench);
}

static void a_tie_after_rounding_goes_to_the_lower_expert(void **state)
{
    struct gate_problem problem = deepseek(100);
    struct bench bench;
    int ties = 0;

    (void)state;
    problem.dtype = DTYPE_BF16;
    problem.has_bias = problem.renormalize = false;
    bench = set_up(problem, GATE_DIST_NORMAL, 3);
    for (int i = 0; i < 100 * 8 - 1; i++) {
        const int32_t first = bench.ids[i], second = bench.ids[i + 1];
        const size_t row = (size_t)(i / 8) * 256;
        const uint16_t *const logits = (const uint16_t *)logits_of(&bench);

        if (i % 8 == 7 || bench.weights[i] != bench.weights[i + 1] || logits[row + first] == logits[row + second])
            continue;
        assert_true(first < second);
        bench.ids[i] = second, bench.ids[i + 1] = first;
        assert_wrong(&bench, i / 8, "of equal choices the lower expert comes first");
        bench.ids[i] = first, bench.ids[i + 1] = second;
        ties++;
    }
    assert_true(ties > 50); /* different logits that have the same score */
    tear_down(&bench);
}

/** Multiplies all weights by a factor. */
static void scale_weights(struct bench *bench, float factor)
{
    for (size_t i = 0; i < gate_num_ids(&bench->problem); i++)
        bench->weights[i] *= factor;
}

static void softmax_weights_slightly_off_are_rejected(void **state)
{
    (void)state;
    for (int renormalize = 0; renormalize < 2; renormalize++) {
        struct gate_problem problem = deepseek(2048);
        struct bench bench;
        float right;

        problem.score = GATE_SCORE_SOFTMAX;
        problem.renormalize = renormalize;
        bench = set_up(problem, GATE_DIST_NORMAL, 3);
        scale_weights(&bench, 1.0f + 1e-5f);
        assert_int_equal(verdict_of(&bench, GATE_TIES_LOWER_WINS, &(struct error){0}), RUN_WRONG);
        scale_weights(&bench, (1.0f - 1e-5f) * (1.0f - 1e-5f));
        assert_int_equal(verdict_of(&bench, GATE_TIES_LOWER_WINS, &(struct error){0}), RUN_WRONG);
        tear_down(&bench);

        bench = set_up(problem, GATE_DIST_NORMAL, 3);
        right = bench.weights[77]; /* the sum of 256 exponentials may have a larger error, but all weights share it */
        bench.weights[77] = right * (1.0f + 3e-6f);
        assert_wrong(&bench, 77 / 8, renormalize ? "a weight is" : "by one factor");
        bench.weights[77] = right * (1.0f - 3e-6f);
        assert_wrong(&bench, 77 / 8, renormalize ? "a weight is" : "by one factor");
        bench.weights[77] = nextafterf(right, 1.0f);
        assert_right(&bench);
        tear_down(&bench);
    }
}

static void the_only_weight_is_one(void **state)
{
    struct gate_problem problem = deepseek(5);
    struct bench bench;

    (void)state;
    problem.topk = 1;
    problem.routed_scaling_factor = 1.0f;
    bench = set_up(problem, GATE_DIST_NORMAL, 3);
    assert_true(bench.weights[3] == 1.0f);
    bench.weights[3] = nextafterf(1.0f, 0.0f);
    assert_wrong(&bench, 3, "a weight is");
    tear_down(&bench);
}

static void a_group_of_both_infinities_ranks_last(void **state)
{
    static const float logits[] = {INFINITY, -INFINITY, -5.0f, -6.0f};
    struct gate_problem problem = deepseek(1);
    struct bench bench;

    (void)state;
    problem.num_experts = 4;
    problem.num_expert_group = 2;
    problem.topk_group = problem.topk = 1;
    problem.score = GATE_SCORE_NONE;
    bench = set_up(problem, GATE_DIST_NORMAL, 3);
    memcpy(logits_of(&bench), logits, sizeof logits);
    memset(bias_of(&bench), 0, 4 * sizeof(float));
    bench.weights[0] = 2.5f;
    bench.ids[0] = 2;
    assert_right(&bench);
    bench.weights[0] = 0.0f;
    bench.ids[0] = 0;
    assert_wrong(&bench, 0, "the best groups are kept");
    tear_down(&bench);
}

/** Tests that uniform logits with a sigmoid give only negative choices, so that bounds are negative as well. */
static void uniform_logits_have_choices_below_0(void **state)
{
    const struct gate_problem problem = deepseek(16);
    struct bench bench = set_up(problem, GATE_DIST_UNIFORM, 2);
    const struct gate_buffers buffers = buffers_of(&bench);
    struct error error;
    struct gate_row row;

    (void)state;
    assert_true(gate_row_allocate(&problem, &row, &error));
    for (int64_t token = 0; token < problem.num_tokens; token++) {
        gate_row_compute_intervals(&problem, buffers.gating_output, buffers.correction_bias, token, &row);
        for (int e = 0; e < problem.num_experts; e++)
            assert_true(row.experts[e].choice_score.value < 0);
    }
    gate_row_free(&row);
    tear_down(&bench);
}

/**
 * Tests that, for each score function, some rows in --check-all's problems have a group whose two best choices are
 * +infinity and -infinity.
 */
static void problems_to_try_hold_a_group_of_both_infinities(void **state)
{
    static const struct gate_implementation any = {.name = "any", .supports_shared_experts = true};
    static struct covering_design covering;
    struct gate_options options;
    int found[GATE_SCORE_NONE + 1] = {0};

    (void)state;
    gate_start_covering_design(any.kernel_switch_tokens, 1, false, &covering);
    while (gate_options_set_next_problem(&covering, &any, 1, &options)) {
        const struct gate_problem problem = options.problem;
        struct error error;
        struct bench bench;
        struct gate_row row;

        covering_accept_problem(&covering);
        if (options.dist != GATE_DIST_NAN || !problem.has_bias)
            continue;
        bench = set_up(problem, options.dist, options.program.seed);
        assert_true(gate_row_allocate(&problem, &row, &error));
        for (int64_t token = 0; token < problem.num_tokens; token++) {
            const struct gate_buffers buffers = buffers_of(&bench);

            gate_row_compute_intervals(&problem, buffers.gating_output, buffers.correction_bias, token, &row);
            for (int g = 0; g < problem.num_expert_group; g++) {
                const int size = gate_experts_per_group(&problem);
                int plus = 0, minus = 0;

                for (int e = g * size; e < (g + 1) * size; e++) {
                    plus += row.experts[e].choice_score.value == INFINITY;
                    minus += row.experts[e].choice_score.value == -INFINITY && !row.experts[e].choice_is_nan;
                }
                found[problem.score] += plus == 1 && minus == size - 1;
            }
        }
        gate_row_free(&row);
        tear_down(&bench);
    }
    assert_true(found[GATE_SCORE_SIGMOID] > 10);
    assert_true(found[GATE_SCORE_SOFTMAX] > 10);
    assert_true(found[GATE_SCORE_NONE] > 10);
}

/* --- problems ----------------------------------------------------------------------------------------------------- */

static void malformed_problems_are_named(void **state)
{
    struct error error;
    struct gate_problem problem;

    (void)state;
#define ASSERT_REFUSED(change, flag)                    \
    problem = deepseek(4);                              \
    change;                                             \
    assert_false(gate_problem_check(&problem, &error)); \
    assert_non_null(strstr(error.text, flag))
    ASSERT_REFUSED(problem.num_tokens = -1, "--num-tokens");
    ASSERT_REFUSED(problem.num_tokens = INT64_MAX / 256, "--num-tokens");
    ASSERT_REFUSED(problem.num_experts = 0, "--num-experts");
    ASSERT_REFUSED(problem.num_expert_group = 7, "--num-expert-group");
    ASSERT_REFUSED(problem.num_expert_group = 0, "--num-expert-group");
    ASSERT_REFUSED((problem.num_expert_group = 256, problem.topk = 4), "--num-expert-group");
    ASSERT_REFUSED(problem.topk_group = 9, "--topk-group");
    ASSERT_REFUSED(problem.topk_group = 0, "--topk-group");
    ASSERT_REFUSED(problem.topk = 129, "--topk");
    ASSERT_REFUSED(problem.topk = -8, "--topk");
    ASSERT_REFUSED(problem.bias_dtype = DTYPE_BF16, "--bias-dtype");
    ASSERT_REFUSED(problem.routed_scaling_factor = NAN, "--routed-scaling-factor");
    ASSERT_REFUSED(problem.num_fused_shared_experts = -1, "--num-fused-shared-experts");
    ASSERT_REFUSED((problem.num_fused_shared_experts = 1, problem.routed_scaling_factor = 0.0f),
                   "--routed-scaling-factor");
#undef ASSERT_REFUSED
}

/* --- generators --------------------------------------------------------------------------------------------------- */

static void generated_rows_depend_on_seed_and_number_alone(void **state)
{
    struct bench few = set_up(deepseek(8), GATE_DIST_NORMAL, 9), many = set_up(deepseek(64), GATE_DIST_NORMAL, 9);
    struct bench other = set_up(deepseek(8), GATE_DIST_NORMAL, 10);

    (void)state;
    assert_memory_equal(logits_of(&few), logits_of(&many), 8 * 256 * sizeof(float));
    assert_memory_not_equal(logits_of(&few), logits_of(&other), 8 * 256 * sizeof(float));
    tear_down(&few);
    tear_down(&many);
    tear_down(&other);
}

static int count_nan(const float *row)
{
    int count = 0;

    for (int e = 0; e < 256; e++)
        count += isnan(row[e]) != 0;
    return count;
}

static void distributions_are_what_they_say(void **state)
{
    struct bench bench = set_up(deepseek(16), GATE_DIST_NAN, 2);
    const float *logits = logits_of(&bench);
    bool infinite = false, tiny = false;

    (void)state;
    assert_int_equal(count_nan(logits), 1);
    assert_true(count_nan(logits + 256) > 20);
    assert_int_equal(count_nan(logits + 2 * 256), 256);
    for (int e = 0; e < 256; e++)
        assert_true(isinf(logits[7 * 256 + e]));
    assert_int_equal(count_nan(logits + 8 * 256), 0);
    tear_down(&bench);

    bench = set_up(deepseek(16), GATE_DIST_TIES, 2);
    logits = logits_of(&bench);
    for (int i = 0; i < 16 * 256; i++)
        assert_true(logits[i] == -1.0f || logits[i] == -0.5f || logits[i] == 0.0f || logits[i] == 0.5f);
    tear_down(&bench);

    bench = set_up(deepseek(16), GATE_DIST_EXTREME, 2);
    logits = logits_of(&bench);
    for (int i = 0; i < 16 * 256; i++) {
        infinite |= isinf(logits[i]) != 0;
        tiny |= logits[i] != 0.0f && fabsf(logits[i]) < 1e-40f;
    }
    assert_true(infinite && tiny);
    for (int e = 0; e < 256; e++) /* the bias excludes groups 1, 4 and 7, and no others */
        assert_int_equal(isinf(bias_of(&bench)[e]) != 0, e / 32 % 3 == 1);
    tear_down(&bench);
}

/* --- shared experts ----------------------------------------------------------------------------------------------- */

static struct gate_problem with_shared_experts(int count, float factor, bool scale_later)
{
    struct gate_problem problem = deepseek(19);

    problem.num_fused_shared_experts = count;
    problem.routed_scaling_factor = factor;
    problem.scale_later = scale_later;
    return problem;
}

/** Computes a shared expert's weight like a kernel that adds up a row's scores in f32, in order or in reverse. */
static float shared_weight_in_float(const struct gate_problem *problem, const float *scores, bool backwards)
{
    float sum = 0.0f, weight;

    for (int k = 0; k < problem->topk; k++)
        sum += scores[backwards ? problem->topk - 1 - k : k];
    sum = dtype_round(problem->dtype, sum);
    weight = dtype_round(problem->dtype, sum / problem->routed_scaling_factor);
    if (problem->renormalize && !isfinite(sum))
        weight = 0.0f;
    else if (problem->renormalize && sum != 0.0f)
        weight = dtype_round(problem->dtype, weight / sum);
    return problem->scale_later ? weight : weight * problem->routed_scaling_factor;
}

/** Fails unless the checker accepts the shared experts' weights as computed in f32, in either order. */
static void assert_floats_are_right(struct gate_problem problem, enum gate_dist dist)
{
    struct gate_problem as_scored = problem;
    struct bench bench, scores;

    as_scored.num_fused_shared_experts = 0;
    as_scored.renormalize = false;
    as_scored.scale_later = true;
    scores = set_up(as_scored, dist, 7);
    bench = set_up(problem, dist, 7);
    assert_right(&bench);
    for (int backwards = 0; backwards < 2; backwards++) {
        for (int64_t token = 0; token < problem.num_tokens; token++)
            for (int i = 0; i < problem.num_fused_shared_experts; i++)
                bench.weights[token * gate_experts_per_token(&problem) + problem.topk + i] = shared_weight_in_float(
                    &problem, scores.weights + token * problem.topk, backwards);
        assert_right(&bench);
    }
    tear_down(&bench);
    tear_down(&scores);
}

static void shared_experts_may_weigh_what_floats_give_them(void **state)
{
    static const float factors[] = {2.5f, 1.0f, 16.0f, -3.0f, 0.07f};

    (void)state;
    for (int form = 0; form < 3 * 3 * 2 * 2 * 5; form++)
        for (int dist = 0; dist < NUM_GATE_DISTS; dist++) {
            struct gate_problem problem = with_shared_experts(2, factors[form / 36], form / 18 % 2);

            problem.dtype = (enum dtype)(form % 3);
            problem.score = (enum gate_score)(form / 3 % 3);
            problem.renormalize = form / 9 % 2;
            assert_floats_are_right(problem, (enum gate_dist)dist);
        }
}

static void shared_experts_stand_behind_the_chosen(void **state)
{
    struct bench bench = set_up(with_shared_experts(2, 2.5f, false), GATE_DIST_NORMAL, 3);

    (void)state;
    assert_int_equal(bench.ids[1 * 10 + 8], 256);
    assert_int_equal(bench.ids[1 * 10 + 9], 257);
    bench.ids[1 * 10 + 9] = 256;
    assert_wrong(&bench, 1, "shared experts stand behind");
    bench.ids[1 * 10 + 9] = 17;
    assert_wrong(&bench, 1, "shared experts stand behind");
    bench.ids[1 * 10 + 9] = bench.ids[1 * 10 + 7];
    bench.ids[1 * 10 + 7] = 257;
    assert_wrong(&bench, 1, "every id names an expert");
    tear_down(&bench);
}

static void a_shared_weight_slightly_off_is_rejected(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        struct gate_problem problem = with_shared_experts(1, 2.5f, form % 2);
        struct bench bench;
        float *weight, right;

        problem.renormalize = form / 2;
        bench = set_up(problem, GATE_DIST_NORMAL, 3);
        weight = &bench.weights[2 * 9 + 8];
        right = *weight;
        for (int i = 0; i < 4;
             i++) { /* too large; too small; not divided by the factor; scaled although it must not be, or not scaled */
            *weight = right * (float[]){1.0f + 2e-6f, 1.0f - 2e-6f, 2.5f, form % 2 ? 2.5f : 0.4f}[i];
            assert_wrong(&bench, 2, "a shared expert's weight is");
        }
        *weight = right;
        bench.weights[2 * 9 + 7] *= 1.0f + 1e-5f;
        assert_wrong(&bench, 2, "a weight is");
        tear_down(&bench);
    }
}

/** Tests that the checker rejects 1 / factor rounded once if rounding sum / factor first gives a different weight. */
static void a_shared_weight_rounded_once_is_rejected(void **state)
{
    struct gate_problem problem = with_shared_experts(1, 2.5f, true);
    struct bench bench;
    struct error error;
    const float once = dtype_round(DTYPE_F16, 1.0f / 2.5f);
    int different = 0;

    (void)state;
    problem.dtype = problem.bias_dtype = DTYPE_F16;
    bench = set_up(problem, GATE_DIST_NORMAL, 7);
    for (int64_t token = 0; token < problem.num_tokens; token++) {
        float *const weight = &bench.weights[token * 9 + 8], right = *weight;

        if (right == once)
            continue;
        *weight = once;
        different += verdict_of(&bench, GATE_TIES_LOWER_WINS, &error) == RUN_WRONG;
        *weight = right;
    }
    assert_true(different > 0);
    tear_down(&bench);
}

static void scaled_later_leaves_the_factor_out(void **state)
{
    struct bench bench = set_up(with_shared_experts(0, 2.5f, true), GATE_DIST_NORMAL, 3);
    float sum = 0.0f;

    (void)state;
    for (int k = 0; k < 8; k++)
        sum += bench.weights[k];
    assert_float_equal(sum, 1.0f, 1e-6f);
    for (int k = 0; k < 8; k++)
        bench.weights[k] *= 2.5f;
    assert_wrong(&bench, 0, "a weight is");
    tear_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reference_passes_everywhere),
        cmocka_unit_test(no_tokens_are_right),
        cmocka_unit_test(ids_out_of_range_are_rejected),
        cmocka_unit_test(an_unwritten_element_is_rejected),
        cmocka_unit_test(an_expert_twice_is_rejected),
        cmocka_unit_test(too_many_groups_are_rejected),
        cmocka_unit_test(a_group_that_should_stay_is_missed),
        cmocka_unit_test(a_worse_expert_of_the_right_group_is_rejected),
        cmocka_unit_test(experts_of_a_group_not_used_are_missed),
        cmocka_unit_test(the_wrong_order_is_rejected),
        cmocka_unit_test(a_weight_slightly_off_is_rejected),
        cmocka_unit_test(a_weight_of_nan_is_rejected),
        cmocka_unit_test(biased_weights_are_rejected),
        cmocka_unit_test(ties_go_to_the_lower_expert_and_group),
        cmocka_unit_test(a_group_may_win_by_rounding),
        cmocka_unit_test(nan_ranks_below_everything_and_weighs_nothing),
        cmocka_unit_test(a_softmax_row_with_one_nan_is_invalid_throughout),
        cmocka_unit_test(the_first_wrong_token_is_named),
        cmocka_unit_test(choices_that_are_not_rounded_are_rejected),
        cmocka_unit_test(a_group_sum_that_is_not_rounded_is_rejected),
        cmocka_unit_test(a_weight_that_is_not_rounded_is_rejected),
        cmocka_unit_test(a_tie_after_rounding_goes_to_the_lower_expert),
        cmocka_unit_test(softmax_weights_slightly_off_are_rejected),
        cmocka_unit_test(the_only_weight_is_one),
        cmocka_unit_test(a_group_of_both_infinities_ranks_last),
        cmocka_unit_test(uniform_logits_have_choices_below_0),
        cmocka_unit_test(problems_to_try_hold_a_group_of_both_infinities),
        cmocka_unit_test(shared_experts_may_weigh_what_floats_give_them),
        cmocka_unit_test(shared_experts_stand_behind_the_chosen),
        cmocka_unit_test(a_shared_weight_slightly_off_is_rejected),
        cmocka_unit_test(a_shared_weight_rounded_once_is_rejected),
        cmocka_unit_test(scaled_later_leaves_the_factor_out),
        cmocka_unit_test(malformed_problems_are_named),
        cmocka_unit_test(generated_rows_depend_on_seed_and_number_alone),
        cmocka_unit_test(distributions_are_what_they_say),
    };
    return cmocka_run_group_tests_name("gate_check", tests, NULL, NULL);
}
