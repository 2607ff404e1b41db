/**
 * @file grader.c
 * @brief 05_another_router: checks that the gate supports 160 experts (top 6, in 8 groups of 20) and still supports 256
 * experts (top 8).
 */
#include "../grade/grade.h"

static const struct gate_problem another = {
    .num_experts = 160,
    .num_expert_group = 8,
    .topk_group = 3,
    .topk = 6,
    .dtype = DTYPE_F32,
    .score = GATE_SCORE_SIGMOID,
    .has_bias = true,
    .bias_dtype = DTYPE_F32,
    .renormalize = true,
    .routed_scaling_factor = 2.5f,
};

static const struct gate_problem before = {
    .num_experts = 256,
    .num_expert_group = 8,
    .topk_group = 4,
    .topk = 8,
    .dtype = DTYPE_F32,
    .score = GATE_SCORE_SIGMOID,
    .has_bias = true,
    .bias_dtype = DTYPE_F32,
    .renormalize = true,
    .routed_scaling_factor = 2.5f,
};

static void check(struct grade_context *grade, const struct gate_problem *router, int64_t num_tokens,
                  enum gate_dist dist)
{
    struct gate_problem problem = *router;

    problem.num_tokens = num_tokens;
    grade_check_gate(grade, gate_launch, &problem, dist);
}

/* --- the README's example ----------------------------------------------------------------------------------------- */

enum { NUM_EXPERTS = 160, TOPK = 6 };

/** The logits that are not -4. Expert 5 beats three chosen experts but is the only good expert in its group. */
static const struct {
    int expert;
    float logit;
} shown[] = {{39, 3.0f}, {24, 2.5f}, {150, 2.0f}, {5, 1.75f}, {159, 1.5f}, {64, 1.0f}, {79, 0.5f}};

static const int32_t shown_ids[TOPK] = {39, 24, 150, 159, 64, 79};

static void check_ids(struct grade_context *grade, const int32_t *topk_ids)
{
    for (int slot = 0; slot < TOPK; slot++) {
        if (grade_is_unwritten(&topk_ids[slot], sizeof topk_ids[slot]))
            grade_fail(grade, "token 0, slot %d: expected expert %d, but topk_ids was never written there", slot,
                       shown_ids[slot]);
        if (topk_ids[slot] != shown_ids[slot])
            grade_fail(grade, "token 0, slot %d: expected expert %d, got expert %d", slot, shown_ids[slot],
                       topk_ids[slot]);
    }
}

static void one_token(struct grade_context *grade)
{
    float *const logits = grade_allocate_host(grade, NUM_EXPERTS * sizeof *logits);
    float *const bias = grade_allocate_host(grade, NUM_EXPERTS * sizeof *bias);
    struct gate_problem problem = another;
    struct gate_buffers buffers;
    cudaError_t status;

    for (int expert = 0; expert < NUM_EXPERTS; expert++) {
        logits[expert] = -4.0f;
        bias[expert] = 0.0f;
    }
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        logits[shown[i].expert] = shown[i].logit;
    problem.num_tokens = 1;
    grade_describe_input(grade, "1 token, 160 experts in 8 groups, top 6 of the best 3");
    buffers.gating_output = grade_device_input(grade, "gating_output", logits, NUM_EXPERTS * sizeof *logits);
    buffers.correction_bias = grade_device_input(grade, "correction_bias", bias, NUM_EXPERTS * sizeof *bias);
    buffers.topk_weights = grade_device_output(grade, "topk_weights", TOPK * sizeof *buffers.topk_weights);
    buffers.topk_ids = grade_device_output(grade, "topk_ids", TOPK * sizeof *buffers.topk_ids);
    status = GRADE_LAUNCH_AND_FETCH_STATUS(grade, gate_launch(&problem, &buffers, NULL));
    if (status == cudaErrorInvalidValue)
        grade_fail(grade, "gate_launch() refuses 160 experts in 8 groups of 20: \"%s\"", cudaGetErrorString(status));
    grade_check_launch_and_arrays(grade);
    check_ids(grade, grade_download(grade, buffers.topk_ids));
}

/* --- the course's checker ----------------------------------------------------------------------------------------- */

static void many_tokens(struct grade_context *grade)
{
    check(grade, &another, 64, GATE_DIST_NORMAL);
    check(grade, &another, 64, GATE_DIST_ZIPF);
}

/** Tests every number of tokens in the last warp, and warps without tokens: 4 tokens per warp, 24 per block. */
static void last_warp(struct grade_context *grade)
{
    for (int num_tokens = 1; num_tokens <= 5; num_tokens++)
        check(grade, &another, num_tokens, GATE_DIST_NORMAL);
    check(grade, &another, 24 + 3, GATE_DIST_NORMAL);
}

static void equal_scores(struct grade_context *grade)
{
    check(grade, &another, 64, GATE_DIST_TIES);
    check(grade, &another, 5, GATE_DIST_EQUAL);
}

static void infinities(struct grade_context *grade)
{
    check(grade, &another, 64, GATE_DIST_EXTREME);
}

static void not_a_number(struct grade_context *grade)
{
    check(grade, &another, 64, GATE_DIST_NAN);
}

/** Checks that the first router still works. */
static void router_before(struct grade_context *grade)
{
    check(grade, &before, 27, GATE_DIST_NORMAL);
    check(grade, &before, 27, GATE_DIST_TIES);
    check(grade, &before, 27, GATE_DIST_NAN);
}

/** Allows 7 shuffles for the groups, two in each of 3 steps of 6 rounds, and 3 for the sum. */
static void shuffles(struct grade_context *grade)
{
    enum { WARPS = 6, TOKENS = 4 * WARPS };

    check(grade, &another, TOKENS, GATE_DIST_NORMAL);
    grade_check_at_most(grade, "block_barriers", grade_last_launch_counter(grade, "block_barriers"), 0);
    grade_check_at_most_per_unit(grade, "shuffles", grade_last_launch_counter(grade, "shuffles"), 7 + 6 * 3 * 2 + 3,
                                 WARPS, "warp");
    grade_check_at_least(grade, "shuffles", grade_last_launch_counter(grade, "shuffles"), WARPS * 6 * 3,
                         "eight lanes find a token's best expert in three steps, six times");
}

const struct grade_case grade_cases[] = {
    {"one_token", one_token, false},         {"many_tokens", many_tokens, false}, {"last_warp", last_warp, false},
    {"equal_scores", equal_scores, false},   {"infinities", infinities, false},   {"not_a_number", not_a_number, false},
    {"router_before", router_before, false}, {"shuffles", shuffles, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
