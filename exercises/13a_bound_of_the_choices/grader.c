/** @file grader.c  13a_bound_of_the_choices: checks the choices and the bound, and that the kernel uses no rounds. */
#include "exercise.h"
#include "../grade/grade.h"

/** Checks whether expert `a` ranks before expert `b`. */
static bool is_before(const uint32_t *keys, int a, int b)
{
    return keys[a] > keys[b] || (keys[a] == keys[b] && a < b);
}

/** Returns how many of the experts `begin` to `end` - 1 rank before `expert`. */
static int rank_of(const uint32_t *keys, int expert, int begin, int end)
{
    int rank = 0;

    for (int e = begin; e < end; e++)
        rank += is_before(keys, e, expert);
    return rank;
}

static int candidates_of(const uint32_t *keys)
{
    uint32_t bound = UINT32_MAX;
    int count = 0;

    for (int e = 0; e < EXPERTS; e++) {
        const int first = e / WARP_SIZE * WARP_SIZE;

        if (rank_of(keys, e, first, first + WARP_SIZE) == 1 && keys[e] < bound)
            bound = keys[e];
    }
    for (int e = 0; e < EXPERTS; e++)
        count += keys[e] >= bound;
    return count;
}

/** Launches the kernel on keys below `levels`. Group `rich`, unless it is -1, gets keys that are `levels` higher. */
static void check(struct grade_context *grade, int num_tokens, uint32_t levels, int rich)
{
    const size_t count = (size_t)num_tokens * EXPERTS;
    uint32_t *const keys = grade_allocate_host(grade, count * sizeof *keys);
    int32_t *const ids = grade_allocate_host(grade, (size_t)num_tokens * TOPK * sizeof *ids);
    int32_t *const candidates = grade_allocate_host(grade, (size_t)num_tokens * sizeof *candidates);

    for (size_t i = 0; i < count; i++)
        keys[i] = (uint32_t)random_below(grade_random(grade), levels) +
                  ((int)(i % EXPERTS / WARP_SIZE) == rich ? levels : 0);
    for (int t = 0; t < num_tokens; t++) {
        const uint32_t *const row = keys + (size_t)t * EXPERTS;

        candidates[t] = candidates_of(row);
        for (int e = 0; e < EXPERTS; e++)
            if (rank_of(row, e, 0, EXPERTS) < TOPK)
                ids[t * TOPK + rank_of(row, e, 0, EXPERTS)] = e;
    }
    grade_describe_input(grade, "%d tokens, %s", num_tokens,
                         levels == 1    ? "all keys equal"
                         : levels < 100 ? "many keys equal"
                                        : "keys far apart");

    const uint32_t *const device_keys = grade_device_input(grade, "keys", keys, count * sizeof *keys);
    int32_t *const topk_ids = grade_device_output(grade, "topk_ids", (size_t)num_tokens * TOPK * sizeof *ids);
    int32_t *const counted = grade_device_output(grade, "candidates", (size_t)num_tokens * sizeof *candidates);

    GRADE_LAUNCH_AND_CHECK(grade, choose_largest_keys_launch(device_keys, num_tokens, topk_ids, counted));
    grade_check_equal_ints(grade, "topk_ids", "choice", ids, topk_ids, (size_t)num_tokens * TOPK);
    grade_check_equal_ints(grade, "candidates", "token", candidates, counted, (size_t)num_tokens);
}

static void far_apart(struct grade_context *grade)
{
    check(grade, 5, 1u << 31, -1);
}

static void one_group_ahead(struct grade_context *grade)
{
    for (int rich = 0; rich < GROUPS; rich++)
        check(grade, 3, 1u << 30, rich);
}

static void many_equal(struct grade_context *grade)
{
    for (uint32_t levels = 2; levels <= 16; levels *= 2)
        check(grade, 4, levels, -1);
}

static void all_equal(struct grade_context *grade)
{
    check(grade, 2, 1, -1);
}

static void no_rounds(struct grade_context *grade)
{
    check(grade, 6, 1u << 31, -1);
    grade_check_at_most_per_unit(grade, "votes", grade_last_launch_counter(grade, "votes"), 4 * GROUPS, 6, "token");
    grade_check_at_most_per_unit(grade, "shuffles", grade_last_launch_counter(grade, "shuffles"), 8, 6, "token");
    grade_check_counter_is_zero(grade, "atomic_requests", "a vote gives each lane its position in the list");
    grade_check_counter_is_zero(grade, "block_barriers", "there is one warp");
}

const struct grade_case grade_cases[] = {
    {"far_apart", far_apart, false},   {"one_group_ahead", one_group_ahead, false},
    {"many_equal", many_equal, false}, {"all_equal", all_equal, false},
    {"no_rounds", no_rounds, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
