/** @file grader.c  14a_ranks_without_atomics: checks every rank, and which operations compute the ranks. */
#include "exercise.h"
#include "../grade/grade.h"

#include <string.h>

/** Draws an id for a test case. */
typedef int32_t draw(struct random *random, int num_experts);

static int32_t draw_any(struct random *random, int num_experts)
{
    return (int32_t)random_below(random, (uint32_t)num_experts);
}

/** Draws an id; about half of the ids name the last expert. */
static int32_t draw_last(struct random *random, int num_experts)
{
    return random_below(random, 2) ? num_experts - 1 : draw_any(random, num_experts);
}

/** Draws an id; about half of the ids name no expert. */
static int32_t draw_invalid(struct random *random, int num_experts)
{
    const int32_t no_candidate[] = {-1, INT32_MIN, INT32_MAX, num_experts, num_experts + 1, -num_experts};

    return random_below(random, 2) ? no_candidate[random_below(random, sizeof no_candidate / sizeof *no_candidate)]
                                   : draw_any(random, num_experts);
}

/** Launches the kernel on `numel` ids and checks every rank. */
static void check_ids(struct grade_context *grade, const int32_t *ids, int numel, int num_experts)
{
    int32_t *const expected = grade_allocate_host(grade, (size_t)numel * sizeof *expected);
    int32_t counts[MAX_EXPERTS] = {0};

    for (int i = 0; i < numel; i++)
        expected[i] = ids[i] >= 0 && ids[i] < num_experts ? counts[ids[i]]++ : -1;
    grade_describe_input(grade, "%d id%s of %d expert%s", numel, numel == 1 ? "" : "s", num_experts,
                         num_experts == 1 ? "" : "s");

    const int32_t *const topk_ids = grade_device_input(grade, "topk_ids", ids, (size_t)numel * sizeof *ids);
    int32_t *const ranks = grade_device_output(grade, "ranks", (size_t)numel * sizeof *ranks);

    GRADE_LAUNCH_AND_CHECK(grade, rank_ids_within_expert_launch(topk_ids, numel, num_experts, ranks));
    grade_check_equal_ints(grade, "ranks", "id", expected, ranks, numel);
}

static void check(struct grade_context *grade, int numel, int num_experts, draw *draw_id)
{
    int32_t *const ids = grade_allocate_host(grade, (size_t)numel * sizeof *ids);

    for (int i = 0; i < numel; i++)
        ids[i] = draw_id(grade_random(grade), num_experts);
    check_ids(grade, ids, numel, num_experts);
}

/** Runs chapter 06's thirteen ids. */
static void thirteen_ids(struct grade_context *grade)
{
    static const int32_t ids[] = {3, 1, 0, 3, 0, 3, 2, 2, 2, 0, 2, 0, 2};

    check_ids(grade, ids, sizeof ids / sizeof *ids, 4);
}

static void several_rounds(struct grade_context *grade)
{
    check(grade, 96, 8, draw_any);
    check(grade, 1000, 160, draw_last);
}

static void invalid_ids(struct grade_context *grade)
{
    check(grade, 500, 60, draw_invalid);
}

static void one_expert(struct grade_context *grade)
{
    check(grade, 100, 1, draw_any);
}

static void any_number_of_ids(struct grade_context *grade)
{
    static const int numels[] = {0, 1, 31, 32, 33, 65};

    for (int i = 0; i < 6; i++)
        check(grade, numels[i], 5, draw_any);
}

static void votes(struct grade_context *grade)
{
    enum { NUMEL = 1024, ROUNDS = NUMEL / WARP_SIZE };

    check(grade, NUMEL, MAX_EXPERTS, draw_last);
    grade_check_counter_is_zero(grade, "atomic_requests", "their order decides a rank");
    grade_check_counter_is_zero(grade, "shuffles", "a vote tells all lanes at once");
    grade_check_at_most_per_unit(grade, "votes", grade_last_launch_counter(grade, "votes"), 12, ROUNDS, "round");
    grade_check_at_most_per_unit(grade, "shared_load_requests",
                                 grade_last_launch_counter(grade, "shared_load_requests"), 2, ROUNDS, "round");
    grade_check_at_most_per_unit(grade, "global_load_requests",
                                 grade_last_launch_counter(grade, "global_load_requests"), 1, ROUNDS, "round");
}

const struct grade_case grade_cases[] = {
    {"thirteen_ids", thirteen_ids, false},
    {"several_rounds", several_rounds, false},
    {"invalid_ids", invalid_ids, false},
    {"one_expert", one_expert, false},
    {"any_number_of_ids", any_number_of_ids, false},
    {"votes", votes, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
