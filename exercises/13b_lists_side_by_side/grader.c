/**
 * @file grader.c
 * @brief 13b_lists_side_by_side: checks the lists for any number of tokens, and that shuffles compute them.
 */
#include "exercise.h"
#include "../grade/grade.h"

/** Launches the kernel on keys below `levels`; each token's bound is between `least_bound` and `most_bound`. */
static void check(struct grade_context *grade, int num_tokens, uint32_t levels, uint32_t least_bound,
                  uint32_t most_bound)
{
    const size_t count = (size_t)num_tokens * EXPERTS;
    uint32_t *const keys = grade_allocate_host(grade, count * sizeof *keys);
    uint32_t *const bounds = grade_allocate_host(grade, (size_t)num_tokens * sizeof *bounds);
    int32_t *const lists = grade_allocate_host(grade, count * sizeof *lists);
    int32_t *const counts = grade_allocate_host(grade, (size_t)num_tokens * sizeof *counts);

    for (size_t i = 0; i < count; i++)
        keys[i] = (uint32_t)random_below(grade_random(grade), levels);
    for (int t = 0; t < num_tokens; t++) {
        bounds[t] = least_bound + (uint32_t)random_below(grade_random(grade), most_bound - least_bound + 1);
        counts[t] = 0;
        for (int e = 0; e < EXPERTS; e++)
            if (keys[t * EXPERTS + e] >= bounds[t])
                lists[t * EXPERTS + counts[t]++] = e;
        for (int i = counts[t]; i < EXPERTS; i++)
            lists[t * EXPERTS + i] = -1;
    }
    grade_describe_input(grade, "%d tokens, keys below %u, bounds from %u to %u", num_tokens, levels, least_bound,
                         most_bound);

    const uint32_t *const device_keys = grade_device_input(grade, "keys", keys, count * sizeof *keys);
    const uint32_t *const device_bounds = grade_device_input(grade, "bounds", bounds,
                                                             (size_t)num_tokens * sizeof *bounds);
    int32_t *const listed = grade_device_output(grade, "lists", count * sizeof *listed);
    int32_t *const counted = grade_device_output(grade, "counts", (size_t)num_tokens * sizeof *counted);

    GRADE_LAUNCH_AND_CHECK(grade, list_candidates_launch(device_keys, device_bounds, num_tokens, listed, counted));
    grade_check_equal_ints(grade, "counts", "token", counts, counted, (size_t)num_tokens);
    grade_check_equal_ints(grade, "lists", "position", lists, listed, count);
}

static void one_warp(struct grade_context *grade)
{
    check(grade, TOKENS_PER_WARP, 100, 50, 90);
}

static void last_warp(struct grade_context *grade)
{
    for (int tokens = 1; tokens <= TOKENS_PER_WARP + 1; tokens++)
        check(grade, tokens, 100, 40, 95);
}

static void all_or_none(struct grade_context *grade)
{
    check(grade, 6, 100, 0, 0);
    check(grade, 6, 100, 100, 100);
    check(grade, 7, 2, 1, 1);
}

static void by_shuffles(struct grade_context *grade)
{
    check(grade, 2 * TOKENS_PER_WARP, 100, 50, 90);
    grade_check_at_most_per_unit(grade, "shuffles", grade_last_launch_counter(grade, "shuffles"), 4, 2, "warp");
    grade_check_at_least(grade, "shuffles", grade_last_launch_counter(grade, "shuffles"), 2,
                         "a lane learns from the others where its candidates end");
    grade_check_counter_is_zero(grade, "votes", "a scan of the counts tells each lane where its candidates end");
    grade_check_counter_is_zero(grade, "atomic_requests",
                                "a scan of the counts tells each lane where its candidates end");
    grade_check_counter_is_zero(grade, "block_barriers", "there is one warp");
}

const struct grade_case grade_cases[] = {
    {"one_warp", one_warp, false},
    {"last_warp", last_warp, false},
    {"all_or_none", all_or_none, false},
    {"by_shuffles", by_shuffles, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
