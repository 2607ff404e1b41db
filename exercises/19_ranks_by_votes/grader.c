/**
 * @file grader.c
 * @brief 19_ranks_by_votes: checks that every group of every token has its rank, computed from two votes of a warp.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>

/** Fills in the scores of a test case. */
typedef void fill(struct random *random, float *scores, int count);

static void fill_equal(struct random *random, float *scores, int count)
{
    (void)random;
    for (int i = 0; i < count; i++)
        scores[i] = -INFINITY;
}

/** Fills in descending scores, so that each group's rank is its number. */
static void fill_descending(struct random *random, float *scores, int count)
{
    (void)random;
    for (int i = 0; i < count; i++)
        scores[i] = (float)-i;
}

/** Returns a group's rank, found by a loop over its rivals. */
static int rank_of(const float *row, int group)
{
    int rank = 0;

    for (int rival = 0; rival < NUM_GROUPS; rival++)
        rank += row[rival] > row[group] || (row[rival] == row[group] && rival < group);
    return rank;
}

static void check_rank(struct grade_context *grade, const float *row, int token, int group, const int *got)
{
    const int expected = rank_of(row, group);

    if (grade_is_unwritten(got, sizeof *got))
        grade_fail(grade, "token %d: nothing was written for group %d; expected rank %d", token, group, expected);
    if (*got != expected)
        grade_fail(grade, "token %d, group %d with score %g: expected rank %d, got %d", token, group,
                   (double)row[group], expected, *got);
}

static void check(struct grade_context *grade, int num_tokens, fill *fill_scores)
{
    const size_t count = (size_t)num_tokens * NUM_GROUPS;
    float *const scores = grade_allocate_host(grade, count * sizeof *scores);

    fill_scores(grade_random(grade), scores, (int)count);
    grade_describe_input(grade, "%d token%s of %d groups", num_tokens, num_tokens == 1 ? "" : "s", NUM_GROUPS);

    const float *const device_scores = grade_device_input(grade, "scores", scores, count * sizeof *scores);
    int *const device_ranks = grade_device_output(grade, "ranks", count * sizeof *device_ranks);

    GRADE_LAUNCH_AND_CHECK(grade, rank_groups_best_first_launch(device_scores, num_tokens, device_ranks));

    const int *const ranks = grade_download(grade, device_ranks);

    for (int token = 0; token < num_tokens; token++)
        for (int group = 0; group < NUM_GROUPS; group++)
            check_rank(grade, scores + (size_t)token * NUM_GROUPS, token, group, &ranks[token * NUM_GROUPS + group]);
}

static void one_token(struct grade_context *grade)
{
    check(grade, 1, fill_descending);
}

static void many_tokens(struct grade_context *grade)
{
    check(grade, 64, grade_fill_mostly_distinct);
}

static void equal_scores(struct grade_context *grade)
{
    check(grade, 1, fill_equal);
    check(grade, 32, grade_fill_ties);
}

static void last_block(struct grade_context *grade)
{
    for (int num_tokens = 1; num_tokens <= 7; num_tokens++)
        check(grade, num_tokens, grade_fill_mostly_distinct);
}

static void votes(struct grade_context *grade)
{
    enum { TOKENS = 8 };

    check(grade, TOKENS, grade_fill_mostly_distinct);
    grade_check_at_least(grade, "votes", grade_last_launch_counter(grade, "votes"), 2 * TOKENS,
                         "all pairs are compared by votes");
    grade_check_at_most_per_unit(grade, "votes", grade_last_launch_counter(grade, "votes"), 2, TOKENS, "warp");
    grade_check_counter_is_zero(grade, "shuffles", "each lane can load the two scores that it compares");
    grade_check_counter_is_zero(grade, "shared_store_requests", "a vote tells all lanes at once");
    grade_check_counter_is_zero(grade, "atomic_requests", "a vote counts all rivals at once");
    grade_check_at_most_per_unit(grade, "global_load_requests",
                                 grade_last_launch_counter(grade, "global_load_requests"), 3, TOKENS, "warp");
    grade_check_at_most_per_unit(grade, "global_store_requests",
                                 grade_last_launch_counter(grade, "global_store_requests"), 1, TOKENS, "warp");
}

const struct grade_case grade_cases[] = {
    {"one_token", one_token, false},
    {"many_tokens", many_tokens, false},
    {"equal_scores", equal_scores, false},
    {"last_block", last_block, false},
    {"votes", votes, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
