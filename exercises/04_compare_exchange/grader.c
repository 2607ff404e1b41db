/** @file grader.c  04_compare_exchange: checks that every token's 32 slots hold its experts in the chapter's order. */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/** Fills in the scores of a test case. */
typedef void fill(struct random *random, float *scores, int count);

/** Fills in the scores from the README's example. */
static void fill_shown(struct random *random, float *scores, int count)
{
    (void)random;
    for (int i = 0; i < count; i++)
        scores[i] = (float)(i * 11 % WARP_SIZE);
}

static void fill_equal(struct random *random, float *scores, int count)
{
    const float score = random_normal(random);

    for (int i = 0; i < count; i++)
        scores[i] = score;
}

static void fill_infinities(struct random *random, float *scores, int count)
{
    static const float values[] = {INFINITY, -INFINITY, -INFINITY, 0.0f, -0.0f, 3.4e38f, -3.4e38f};

    for (int i = 0; i < count; i++)
        scores[i] = values[random_below(random, sizeof values / sizeof *values)];
}

/** Repeats NaN, a number and -infinity, starting at any of them, so that three consecutive scores include each once. */
static void fill_some_nan(struct random *random, float *scores, int count)
{
    const int first = (int)random_below(random, 3);

    for (int i = 0; i < count; i++)
        scores[i] = (i + first) % 3 == 0 ? NAN : (i + first) % 3 == 1 ? random_normal(random) : -INFINITY;
}

static void fill_nan(struct random *random, float *scores, int count)
{
    (void)random;
    for (int i = 0; i < count; i++)
        scores[i] = NAN;
}

/* --- the right answer --------------------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    const struct candidate *const a = left, *const b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static void sort(const float *scores, int num_experts, struct candidate sorted[WARP_SIZE])
{
    for (int expert = 0; expert < WARP_SIZE; expert++) {
        sorted[expert] = (struct candidate){-INFINITY, NO_EXPERT};
        if (expert < num_experts && isnan(scores[expert]))
            sorted[expert].id = expert + num_experts;
        else if (expert < num_experts)
            sorted[expert] = (struct candidate){scores[expert], expert};
    }
    qsort(sorted, WARP_SIZE, sizeof *sorted, compare);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/** Describes a candidate: "expert 17 with score 0.5", "expert 3, whose score is NaN, as id 23", "no expert". */
static void say_candidate(struct candidate candidate, const float *scores, int num_experts, char (*text)[64])
{
    const int id = candidate.id;

    if (id == NO_EXPERT && candidate.value == -INFINITY)
        snprintf(*text, sizeof *text, "no expert");
    else if (id >= num_experts && id < 2 * num_experts && isnan(scores[id - num_experts]))
        snprintf(*text, sizeof *text, "expert %d, whose score is NaN, as id %d", id - num_experts, id);
    else if (id >= 0 && id < num_experts)
        snprintf(*text, sizeof *text, "expert %d with score %g", id, (double)candidate.value);
    else
        snprintf(*text, sizeof *text, "id %d with score %g", id, (double)candidate.value);
}

static void check_token(struct grade_context *grade, int token, const float *scores, int num_experts,
                        const struct candidate *got)
{
    struct candidate expected[WARP_SIZE];
    char wanted[64], had[64];

    sort(scores, num_experts, expected);
    for (int slot = 0; slot < WARP_SIZE; slot++) {
        if (got[slot].id == expected[slot].id && got[slot].value == expected[slot].value)
            continue;
        say_candidate(expected[slot], scores, num_experts, &wanted);
        if (grade_is_unwritten(&got[slot], sizeof got[slot]))
            grade_fail(grade, "token %d, slot %d: expected %s, but it was never written", token, slot, wanted);
        say_candidate(got[slot], scores, num_experts, &had);
        for (int before = 0; before < slot; before++)
            if (got[before].id == got[slot].id && got[slot].id < num_experts)
                grade_fail(grade, "token %d, slot %d: expected %s, got %s, which is at slot %d already", token, slot,
                           wanted, had, before);
        grade_fail(grade, "token %d, slot %d: expected %s, got %s", token, slot, wanted, had);
    }
}

static void check(struct grade_context *grade, int num_tokens, int num_experts, fill *fill_scores)
{
    const size_t count = (size_t)num_tokens * num_experts, slots = (size_t)num_tokens * WARP_SIZE;
    float *const scores = grade_allocate_host(grade, count * sizeof *scores);

    fill_scores(grade_random(grade), scores, (int)count);
    grade_describe_input(grade, "%d token%s of %d expert%s", num_tokens, num_tokens == 1 ? "" : "s", num_experts,
                         num_experts == 1 ? "" : "s");

    const float *const device_scores = grade_device_input(grade, "scores", scores, count * sizeof *scores);
    struct candidate *const device_sorted = grade_device_output(grade, "sorted", slots * sizeof *device_sorted);

    GRADE_LAUNCH_AND_CHECK(grade, sort_launch(device_scores, num_tokens, num_experts, device_sorted));

    const struct candidate *const sorted = grade_download(grade, device_sorted);

    for (int token = 0; token < num_tokens; token++)
        check_token(grade, token, scores + (size_t)token * num_experts, num_experts,
                    sorted + (size_t)token * WARP_SIZE);
}

/* --- the cases ---------------------------------------------------------------------------------------------------- */

static void one_token(struct grade_context *grade)
{
    check(grade, 1, 32, fill_shown);
}

static void many_tokens(struct grade_context *grade)
{
    check(grade, 33, 32, grade_fill_mostly_distinct);
}

static void equal_scores(struct grade_context *grade)
{
    check(grade, 16, 32, grade_fill_ties);
    check(grade, 1, 32, fill_equal);
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
}

static void not_a_number(struct grade_context *grade)
{
    check(grade, 7, 32, fill_some_nan);
    check(grade, 7, 20, fill_some_nan);
    check(grade, 3, 32, fill_nan);
    check(grade, 3, 9, fill_nan);
}

/** Allows 15 steps with two shuffles each. */
static void shuffles(struct grade_context *grade)
{
    enum { TOKENS = 4, STEPS = 15, VALUES = 2 };

    check(grade, TOKENS, 32, grade_fill_mostly_distinct);
    grade_check_shuffles_only(grade, TOKENS, STEPS, STEPS * VALUES);
}

const struct grade_case grade_cases[] = {
    {"one_token", one_token, false},       {"many_tokens", many_tokens, false},
    {"equal_scores", equal_scores, false}, {"fewer_experts", fewer_experts, false},
    {"infinities", infinities, false},     {"not_a_number", not_a_number, false},
    {"shuffles", shuffles, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
