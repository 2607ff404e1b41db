/** @file grader.c  01_group_score: checks that every group of every token has the sum of its two largest choices. */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** The shape of a launch. */
struct shape {
    int num_tokens, num_expert_group, experts_per_group;
};

/** Fills in the choices of a test case. */
typedef void fill(struct random *random, float *choice, int count);

static void fill_distinct(struct random *random, float *choice, int count)
{
    for (int i = 0; i < count; i++)
        choice[i] = random_normal(random);
}

/** Fills the choices with negative numbers, so that a maximum that starts at 0 is wrong. */
static void fill_negative(struct random *random, float *choice, int count)
{
    for (int i = 0; i < count; i++)
        choice[i] = -1.0f - random_uniform(random);
}

static void fill_ties(struct random *random, float *choice, int count)
{
    for (int i = 0; i < count; i++)
        choice[i] = (float)random_below(random, 3) - 1.0f;
}

static void fill_equal(struct random *random, float *choice, int count)
{
    const float value = random_normal(random);

    for (int i = 0; i < count; i++)
        choice[i] = value;
}

static void fill_infinities(struct random *random, float *choice, int count)
{
    for (int i = 0; i < count; i++)
        choice[i] = random_below(random, 4) ? -INFINITY : random_below(random, 4) ? random_normal(random) : INFINITY;
}

static void fill_nan(struct random *random, float *choice, int count)
{
    for (int i = 0; i < count; i++)
        choice[i] = random_below(random, 4) ? NAN : random_normal(random);
}

/** The experts with a group's two largest choices; -1 for a missing one. */
struct two_best {
    int first, second;
};

static struct two_best find_two_best(const float *choice, int experts_per_group)
{
    struct two_best best = {-1, -1};

    for (int expert = 0; expert < experts_per_group; expert++)
        if (!isnan(choice[expert]) && (best.first < 0 || choice[expert] > choice[best.first]))
            best.first = expert;
    for (int expert = 0; expert < experts_per_group; expert++)
        if (!isnan(choice[expert]) && expert != best.first && (best.second < 0 || choice[expert] > choice[best.second]))
            best.second = expert;
    return best;
}

/** Describes the expected score: "1.75, the sum of 1 (expert 1) and 0.75 (expert 3)". */
static void describe(char *text, size_t size, float expected, const float *choice, struct two_best best)
{
    if (best.second >= 0)
        snprintf(text, size, "%.9g, the sum of %.9g (expert %d) and %.9g (expert %d)", (double)expected,
                 (double)choice[best.first], best.first, (double)choice[best.second], best.second);
    else if (best.first >= 0)
        snprintf(text, size, "%.9g, since only expert %d has a value, %.9g", (double)expected, best.first,
                 (double)choice[best.first]);
    else
        snprintf(text, size, "%.9g, since every value is NaN", (double)expected);
}

static void check_group(struct grade_context *grade, int token, int group, const float *choice, int experts_per_group,
                        float got)
{
    const struct two_best best = find_two_best(choice, experts_per_group);
    const float first = best.first < 0 ? -INFINITY : choice[best.first];
    const float second = best.second < 0 ? -INFINITY : choice[best.second];
    const float sum = first + second, expected = isnan(sum) ? -INFINITY : sum;
    char description[160];

    if (got == expected)
        return;
    describe(description, sizeof description, expected, choice, best);
    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "token %d, group %d: nothing was written; expected %s", token, group, description);
    grade_fail(grade, "token %d, group %d: expected %s, got %.9g", token, group, description, (double)got);
}

/** Launches the kernel on `choice` and checks every group's score. */
static void check(struct grade_context *grade, struct shape shape, const float *choice)
{
    const size_t groups = (size_t)shape.num_tokens * shape.num_expert_group, count = groups * shape.experts_per_group;
    const float *const device_choice = grade_device_input(grade, "choice", choice, count * sizeof *choice);
    float *const device_scores = grade_device_output(grade, "group_scores", groups * sizeof *device_scores);

    GRADE_LAUNCH_AND_CHECK(grade,
                           sum_two_largest_per_group_launch(device_choice, shape.num_tokens, shape.num_expert_group,
                                                            shape.experts_per_group, device_scores));

    const float *const scores = grade_download(grade, device_scores);

    for (int token = 0; token < shape.num_tokens; token++)
        for (int group = 0; group < shape.num_expert_group; group++) {
            const int row = token * shape.num_expert_group + group;

            check_group(grade, token, group, choice + (size_t)row * shape.experts_per_group, shape.experts_per_group,
                        scores[row]);
        }
}

static void check_filled(struct grade_context *grade, struct shape shape, fill *fill_choice)
{
    const size_t count = (size_t)shape.num_tokens * shape.num_expert_group * shape.experts_per_group;
    float *const choice = grade_allocate_host(grade, count * sizeof *choice);

    fill_choice(grade_random(grade), choice, (int)count);
    grade_describe_input(grade, "%d token%s, %d group%s of %d expert%s", shape.num_tokens,
                         shape.num_tokens == 1 ? "" : "s", shape.num_expert_group,
                         shape.num_expert_group == 1 ? "" : "s", shape.experts_per_group,
                         shape.experts_per_group == 1 ? "" : "s");
    check(grade, shape, choice);
}

static void the_table(struct grade_context *grade)
{
    static const float choice[5][4] = {{0.25f, 1.00f, 0.50f, 0.75f},
                                       {0.50f, 0.75f, 0.25f, 0.75f},
                                       {NAN, 0.50f, 0.25f, NAN},
                                       {-INFINITY, -INFINITY, 0.50f, -INFINITY},
                                       {INFINITY, NAN, NAN, NAN}};

    grade_describe_input(grade, "the README's table: 1 token, 5 groups of 4 experts");
    check(grade, (struct shape){1, 5, 4}, choice[0]);
}

static void distinct_values(struct grade_context *grade)
{
    check_filled(grade, (struct shape){8, 8, 32}, fill_distinct);
}

static void negative_values(struct grade_context *grade)
{
    check_filled(grade, (struct shape){4, 4, 20}, fill_negative);
}

/** Puts the two largest values at every pair of positions, in both orders. */
static void every_slot(struct grade_context *grade)
{
    enum { EXPERTS = 7 };
    float choice[EXPERTS * EXPERTS][EXPERTS];

    for (int row = 0; row < EXPERTS * EXPERTS; row++) {
        for (int expert = 0; expert < EXPERTS; expert++)
            choice[row][expert] = -random_uniform(grade_random(grade));
        choice[row][row / EXPERTS] = 1.0f;
        choice[row][row % EXPERTS] = row / EXPERTS == row % EXPERTS ? 1.0f : 0.5f;
    }
    grade_describe_input(grade, "%d tokens, %d groups of %d experts, the two largest in every pair of slots", EXPERTS,
                         EXPERTS, EXPERTS);
    check(grade, (struct shape){EXPERTS, EXPERTS, EXPERTS}, choice[0]);
}

static void equal_values(struct grade_context *grade)
{
    check_filled(grade, (struct shape){8, 8, 8}, fill_ties);
    check_filled(grade, (struct shape){4, 2, 5}, fill_equal);
}

static void sizes(struct grade_context *grade)
{
    static const struct shape shapes[] = {{1, 1, 1}, {1, 3, 2}, {31, 1, 3}, {33, 2, 5}, {65, 3, 6}, {2, 5, 33}};

    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        check_filled(grade, shapes[i], fill_distinct);
}

static void infinities(struct grade_context *grade)
{
    check_filled(grade, (struct shape){8, 8, 4}, fill_infinities);
    check_filled(grade, (struct shape){8, 8, 20}, fill_infinities);
}

static void not_a_number(struct grade_context *grade)
{
    check_filled(grade, (struct shape){8, 8, 4}, fill_nan);
    check_filled(grade, (struct shape){8, 8, 20}, fill_nan);
    check_filled(grade, (struct shape){8, 8, 1}, fill_nan);
}

const struct grade_case grade_cases[] = {
    {"the_table", the_table, false},       {"distinct_values", distinct_values, false},
    {"every_slot", every_slot, false},     {"negative_values", negative_values, false},
    {"equal_values", equal_values, false}, {"sizes", sizes, false},
    {"infinities", infinities, false},     {"not_a_number", not_a_number, false},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
