/** @file grader.c  02_warp_maximum: checks that every lane of a token's warp holds the best score and its expert. */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>

/** Fills in the scores of a test case. */
typedef void fill(struct random *random, float *scores, int count);

static void fill_infinities(struct random *random, float *scores, int count)
{
    for (int i = 0; i < count; i++)
        scores[i] = random_below(random, 8) ? -INFINITY : -random_uniform(random);
}

static void fill_lowest(struct random *random, float *scores, int count)
{
    (void)random;
    for (int i = 0; i < count; i++)
        scores[i] = -INFINITY;
}

/** Returns the expected result, found by a loop over the experts. */
static struct candidate best_of(const float *scores, int num_experts)
{
    struct candidate best = {scores[0], 0};

    for (int expert = 1; expert < num_experts; expert++)
        if (scores[expert] > best.value)
            best = (struct candidate){scores[expert], expert};
    return best;
}

static void check_lane(struct grade_context *grade, int token, int lane, struct candidate expected,
                       struct candidate got)
{
    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "token %d: lane %d wrote nothing; expected expert %d with score %g", token, lane, expected.id,
                   (double)expected.value);
    if (got.id != expected.id)
        grade_fail(grade, "token %d, lane %d: expected expert %d with score %g, got expert %d with score %g%s", token,
                   lane, expected.id, (double)expected.value, got.id, (double)got.value,
                   got.value == expected.value ? "; of equal scores, the lower expert's wins" : "");
    if (got.value != expected.value)
        grade_fail(grade, "token %d, lane %d: expected score %g of expert %d, got %g", token, lane,
                   (double)expected.value, expected.id, (double)got.value);
}

static void check(struct grade_context *grade, int num_tokens, int num_experts, fill *fill_scores)
{
    const size_t count = (size_t)num_tokens * num_experts, lanes = (size_t)num_tokens * WARP_SIZE;
    float *const scores = grade_allocate_host(grade, count * sizeof *scores);

    fill_scores(grade_random(grade), scores, (int)count);
    grade_describe_input(grade, "%d token%s of %d expert%s", num_tokens, num_tokens == 1 ? "" : "s", num_experts,
                         num_experts == 1 ? "" : "s");

    const float *const device_scores = grade_device_input(grade, "scores", scores, count * sizeof *scores);
    struct candidate *const device_best = grade_device_output(grade, "best", lanes * sizeof *device_best);

    GRADE_LAUNCH_AND_CHECK(grade, warp_maximum_launch(device_scores, num_tokens, num_experts, device_best));

    const struct candidate *const best = grade_download(grade, device_best);

    for (int token = 0; token < num_tokens; token++) {
        const struct candidate expected = best_of(scores + (size_t)token * num_experts, num_experts);

        for (int lane = 0; lane < WARP_SIZE; lane++)
            check_lane(grade, token, lane, expected, best[token * WARP_SIZE + lane]);
    }
}

static void one_token(struct grade_context *grade)
{
    check(grade, 1, 32, grade_fill_mostly_distinct);
}

static void many_tokens(struct grade_context *grade)
{
    check(grade, 64, 32, grade_fill_mostly_distinct);
}

static void equal_scores(struct grade_context *grade)
{
    check(grade, 16, 32, grade_fill_ties);
}

static void last_block(struct grade_context *grade)
{
    for (int num_tokens = 1; num_tokens <= 7; num_tokens++)
        check(grade, num_tokens, 32, grade_fill_mostly_distinct);
}

static void fewer_experts(struct grade_context *grade)
{
    static const int counts[] = {1, 5, 20, 31};

    for (int i = 0; i < 4; i++)
        check(grade, 5, counts[i], grade_fill_mostly_distinct);
}

static void infinities(struct grade_context *grade)
{
    check(grade, 8, 32, fill_infinities);
    check(grade, 8, 20, fill_infinities);
    check(grade, 3, 20, fill_lowest);
}

/** Allows five steps with two shuffles each. */
static void shuffles(struct grade_context *grade)
{
    enum { TOKENS = 4, STEPS = 5, VALUES = 2 };

    check(grade, TOKENS, 32, grade_fill_mostly_distinct);
    grade_check_shuffles_only(grade, TOKENS, STEPS, STEPS * VALUES);
}

const struct grade_case grade_cases[] = {
    {"one_token", one_token, false},   {"many_tokens", many_tokens, false},     {"equal_scores", equal_scores, false},
    {"last_block", last_block, false}, {"fewer_experts", fewer_experts, false}, {"infinities", infinities, false},
    {"shuffles", shuffles, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
