/**
 * @file grader.c
 * @brief 06_count_without_races: checks that every count is correct, without a race, and that all threads count in
 * shared memory.
 */
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

static int32_t draw_one(struct random *random, int num_experts)
{
    (void)random;
    return num_experts / 2;
}

/** Draws an id; about three in four ids name no expert. */
static int32_t draw_invalid(struct random *random, int num_experts)
{
    const int32_t no_candidate[] = {-1, INT32_MIN, INT32_MAX, num_experts, num_experts + 1, -num_experts};

    return random_below(random, 4) ? no_candidate[random_below(random, sizeof no_candidate / sizeof *no_candidate)]
                                   : draw_any(random, num_experts);
}

/** Launches the kernel on `numel` ids and checks every expert's count. */
static void check_ids(struct grade_context *grade, const int32_t *ids, int64_t numel, int num_experts)
{
    int32_t *const expected = grade_allocate_host(grade, num_experts * sizeof *expected);

    memset(expected, 0, num_experts * sizeof *expected);
    for (int64_t i = 0; i < numel; i++)
        if (ids[i] >= 0 && ids[i] < num_experts)
            expected[ids[i]]++;
    grade_describe_input(grade, "%d id%s of %d expert%s", (int)numel, numel == 1 ? "" : "s", num_experts,
                         num_experts == 1 ? "" : "s");

    const int32_t *const topk_ids = grade_device_input(grade, "topk_ids", ids, (size_t)numel * sizeof *ids);
    int32_t *const num_ids = grade_device_output(grade, "num_ids", num_experts * sizeof *num_ids);

    GRADE_LAUNCH_AND_CHECK(grade, count_ids_launch(topk_ids, numel, num_experts, num_ids));
    grade_check_equal_ints(grade, "num_ids", "expert", expected, num_ids, num_experts);
}

static void check(struct grade_context *grade, int64_t numel, int num_experts, draw *draw_id)
{
    int32_t *const ids = grade_allocate_host(grade, (size_t)numel * sizeof *ids);

    for (int64_t i = 0; i < numel; i++)
        ids[i] = draw_id(grade_random(grade), num_experts);
    check_ids(grade, ids, numel, num_experts);
}

/** Runs chapter 06's example. Experts 0 to 3 are named at positions 2 4 9 11; 1; 6 7 8 10 12; and 0 3 5. */
static void thirteen_ids(struct grade_context *grade)
{
    static const int32_t ids[] = {3, 1, 0, 3, 0, 3, 2, 2, 2, 0, 2, 0, 2};

    check_ids(grade, ids, sizeof ids / sizeof *ids, 4);
}

static void many_ids(struct grade_context *grade)
{
    check(grade, 3000, 256, draw_any);
    check(grade, 2048, 160, draw_last);
}

static void one_expert(struct grade_context *grade)
{
    check(grade, 1000, 256, draw_one);
    check(grade, 1000, 1, draw_any);
}

static void invalid_ids(struct grade_context *grade)
{
    check(grade, 1000, 60, draw_invalid);
}

static void few_ids(struct grade_context *grade)
{
    static const int numels[] = {0, 1, 31, 33, 255, 257};

    for (int i = 0; i < 6; i++)
        check(grade, numels[i], 40, draw_any);
}

/** Runs with more experts than threads. */
static void many_experts(struct grade_context *grade)
{
    check(grade, 700, 257, draw_last);
    check(grade, 100, 4096, draw_last);
}

/** Allows two loads of each id; one request loads a warp's 32 ids. */
static void cost(struct grade_context *grade)
{
    enum { NUMEL = 4096, EXPERTS = 256 };

    check(grade, NUMEL, EXPERTS, draw_any);
    grade_check_at_most(grade, "block_barriers", grade_last_launch_counter(grade, "block_barriers"), 2);
    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                        2 * NUMEL / 32);
    if (grade_last_launch_counter(grade, "shared_store_requests") == 0)
        grade_fail(grade, "nothing was stored to shared memory; the counters belong there");
    grade_check_counter_is_zero(grade, "global_atomic_requests", "keep the counters in shared memory");
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                        EXPERTS / 32);
}

const struct grade_case grade_cases[] = {
    {"thirteen_ids", thirteen_ids, false},
    {"many_ids", many_ids, false},
    {"one_expert", one_expert, false},
    {"invalid_ids", invalid_ids, false},
    {"few_ids", few_ids, false},
    {"many_experts", many_experts, false},
    {"cost", cost, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
