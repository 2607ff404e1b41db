/**
 * @file grader.c
 * @brief 03_second_maximum: checks that every lane of a group's warp holds the group's two largest choices.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>
#include <stdio.h>

/** Fills a group's choices. */
typedef void fill(struct random *random, float *choice, int experts_per_group);

static void fill_distinct(struct random *random, float *choice, int experts_per_group)
{
    for (int expert = 0; expert < experts_per_group; expert++)
        choice[expert] = random_normal(random);
}

/** Fills the choices with negative numbers, so that a maximum that starts at 0 is wrong. */
static void fill_negative(struct random *random, float *choice, int experts_per_group)
{
    for (int expert = 0; expert < experts_per_group; expert++)
        choice[expert] = -1.0f - random_uniform(random);
}

/** Gives the largest value to 2 or 3 of the group's experts. */
static void fill_ties(struct random *random, float *choice, int experts_per_group)
{
    for (int expert = 0; expert < experts_per_group; expert++)
        choice[expert] = random_uniform(random);
    for (uint32_t ties = 2 + random_below(random, 2); ties > 0;) {
        float *const slot = choice + random_below(random, (uint32_t)experts_per_group);

        ties -= *slot != 2.0f;
        *slot = 2.0f;
    }
}

static void fill_equal(struct random *random, float *choice, int experts_per_group)
{
    const float value = random_normal(random);

    for (int expert = 0; expert < experts_per_group; expert++)
        choice[expert] = value;
}

/** Fills the choices with -infinity and a few numbers; some groups get only -infinity. */
static void fill_infinities(struct random *random, float *choice, int experts_per_group)
{
    for (int expert = 0; expert < experts_per_group; expert++)
        choice[expert] = random_below(random, 16) ? -INFINITY : -random_uniform(random);
}

static void fill_lowest(struct random *random, float *choice, int experts_per_group)
{
    (void)random;
    for (int expert = 0; expert < experts_per_group; expert++)
        choice[expert] = -INFINITY;
}

static void fill_highest(struct random *random, float *choice, int experts_per_group)
{
    fill_distinct(random, choice, experts_per_group);
    choice[0] = choice[experts_per_group - 1] = INFINITY;
}

/** The experts with a group's two largest choices; the second is -1 if there is only one expert. */
struct experts {
    int first, second;
};

static struct experts find_two_best(const float *choice, int experts_per_group)
{
    struct experts best = {0, -1};

    for (int expert = 1; expert < experts_per_group; expert++) {
        if (choice[expert] > choice[best.first])
            best = (struct experts){expert, best.first};
        else if (best.second < 0 || choice[expert] > choice[best.second])
            best.second = expert;
    }
    return best;
}

/** Describes the two experts for a message: "experts 1 and 2 both have 5". */
static void describe(char *text, size_t size, const float *choice, struct experts best)
{
    if (best.second < 0)
        snprintf(text, size, "expert 0 is the only one");
    else if (choice[best.first] == choice[best.second])
        snprintf(text, size, "experts %d and %d both have %g", best.first, best.second, (double)choice[best.first]);
    else
        snprintf(text, size, "experts %d and %d have the two", best.first, best.second);
}

static void check_lane(struct grade_context *grade, int group, int lane, const float *choice, struct experts experts,
                       struct two_largest got)
{
    const float first = choice[experts.first], second = experts.second < 0 ? -INFINITY : choice[experts.second];
    const bool first_is_right = got.first == first;
    char description[80];

    if (first_is_right && got.second == second)
        return;
    describe(description, sizeof description, choice, experts);
    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "group %d: lane %d wrote nothing; expected first %g and second %g", group, lane,
                   (double)first, (double)second);
    grade_fail(grade, "group %d, lane %d: expected first %g and second %g, got %s %g; %s", group, lane, (double)first,
               (double)second, first_is_right ? "second" : "first", (double)(first_is_right ? got.second : got.first),
               description);
}

/** Launches the kernel on `choice` and checks every lane. */
static void check(struct grade_context *grade, int num_groups, int experts_per_group, const float *choice)
{
    const size_t count = (size_t)num_groups * experts_per_group, lanes = (size_t)num_groups * WARP_SIZE;
    const float *const device_choice = grade_device_input(grade, "choice", choice, count * sizeof *choice);
    struct two_largest *const device_best = grade_device_output(grade, "best", lanes * sizeof *device_best);

    GRADE_LAUNCH_AND_CHECK(grade, two_largest_launch(device_choice, num_groups, experts_per_group, device_best));

    const struct two_largest *const best = grade_download(grade, device_best);

    for (int group = 0; group < num_groups; group++) {
        const float *const row = choice + (size_t)group * experts_per_group;
        const struct experts experts = find_two_best(row, experts_per_group);

        for (int lane = 0; lane < WARP_SIZE; lane++)
            check_lane(grade, group, lane, row, experts, best[group * WARP_SIZE + lane]);
    }
}

static void check_filled(struct grade_context *grade, int num_groups, int experts_per_group, fill *fill_choice)
{
    float *const choice = grade_allocate_host(grade, (size_t)num_groups * experts_per_group * sizeof *choice);

    for (int group = 0; group < num_groups; group++)
        fill_choice(grade_random(grade), choice + (size_t)group * experts_per_group, experts_per_group);
    grade_describe_input(grade, "%d group%s of %d expert%s", num_groups, num_groups == 1 ? "" : "s", experts_per_group,
                         experts_per_group == 1 ? "" : "s");
    check(grade, num_groups, experts_per_group, choice);
}

static void the_table(struct grade_context *grade)
{
    static const float choice[2][4] = {{3.0f, 1.0f, 5.0f, 2.0f}, {3.0f, 5.0f, 5.0f, 2.0f}};

    grade_describe_input(grade, "the README's table: 2 groups of 4 experts");
    check(grade, 2, 4, choice[0]);
}

static void distinct_choices(struct grade_context *grade)
{
    check_filled(grade, 32, 32, fill_distinct);
    check_filled(grade, 8, 32, fill_negative);
}

/** Puts the two largest values, equal or different, into every pair of lanes. */
static void every_pair_of_lanes(struct grade_context *grade)
{
    enum { EXPERTS = 32, PAIRS = EXPERTS * (EXPERTS - 1) };
    float *const choice = grade_allocate_host(grade, (size_t)PAIRS * EXPERTS * sizeof *choice);
    int group = 0;

    for (int first = 0; first < EXPERTS; first++)
        for (int second = 0; second < EXPERTS; second++) {
            float *const row = choice + (size_t)group * EXPERTS;

            if (first == second)
                continue;
            fill_distinct(grade_random(grade), row, EXPERTS);
            row[first] = 20.0f;
            row[second] = first < second ? 20.0f : 10.0f;
            group++;
        }
    grade_describe_input(grade, "%d groups of %d experts, the two largest in every pair of lanes", PAIRS, EXPERTS);
    check(grade, PAIRS, EXPERTS, choice);
}

static void equal_choices(struct grade_context *grade)
{
    check_filled(grade, 32, 32, fill_ties);
    check_filled(grade, 8, 3, fill_ties);
    check_filled(grade, 8, 32, fill_equal);
    check_filled(grade, 4, 2, fill_equal);
}

static void sizes(struct grade_context *grade)
{
    static const int experts[] = {1, 2, 5, 17, 20, 31};

    for (int i = 0; i < (int)(sizeof experts / sizeof *experts); i++) {
        check_filled(grade, i + 1, experts[i], fill_distinct);
        check_filled(grade, i + 2, experts[i], fill_negative);
    }
}

static void infinities(struct grade_context *grade)
{
    check_filled(grade, 16, 32, fill_infinities);
    check_filled(grade, 16, 20, fill_infinities);
    check_filled(grade, 2, 32, fill_lowest);
    check_filled(grade, 4, 20, fill_highest);
}

/** Allows five steps with two shuffles each. */
static void shuffles(struct grade_context *grade)
{
    enum { GROUPS = 4, STEPS = 5, VALUES = 2 };

    check_filled(grade, GROUPS, 32, fill_ties);
    grade_check_shuffles_only(grade, GROUPS, STEPS, STEPS * VALUES);
}

const struct grade_case grade_cases[] = {
    {"the_table", the_table, false},
    {"distinct_choices", distinct_choices, false},
    {"equal_choices", equal_choices, false},
    {"every_pair_of_lanes", every_pair_of_lanes, false},
    {"sizes", sizes, false},
    {"infinities", infinities, false},
    {"shuffles", shuffles, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
