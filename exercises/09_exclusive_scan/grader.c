/**
 * @file grader.c
 * @brief 09_exclusive_scan: checks that every list's offsets are the sums before each expert, then the total.
 */
#include "exercise.h"
#include "../grade/grade_scan.h"

/** Fills the list with counts, most of which are 0. */
static void fill_sparse(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = random_below(random, 4) ? 0 : 1 + (int32_t)random_below(random, 9);
}

/** Fills the list with odd numbers whose sums a float cannot hold exactly; 32 of them add up to less than 2^31. */
static void fill_large(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = (1 << 25) + 1 + 2 * (int32_t)random_below(random, 1 << 23);
}

/** Fills the list with the counts of the README's example. */
static void fill_shown(struct random *random, int32_t *counts, int num_experts)
{
    static const int32_t shown[] = {3, 1, 7, 0, 4};

    (void)random;
    for (int e = 0; e < num_experts; e++)
        counts[e] = shown[e];
}

static void check(struct grade_context *grade, int num_lists, int num_experts, grade_fill_counts_function *fill)
{
    grade_check_scan(grade, exclusive_scan_launch, num_lists, num_experts, fill);
}

static void one_list(struct grade_context *grade)
{
    check(grade, 1, 5, fill_shown);
}

static void whole_warp(struct grade_context *grade)
{
    check(grade, 4, 32, grade_fill_counts_positive);
}

static void many_lists(struct grade_context *grade)
{
    check(grade, 64, 32, grade_fill_counts_positive);
    check(grade, 30, 27, grade_fill_counts_positive);
}

static void equal_counts(struct grade_context *grade)
{
    check(grade, 3, 32, grade_fill_counts_equal);
    check(grade, 3, 13, grade_fill_counts_equal);
}

static void last_block(struct grade_context *grade)
{
    for (int num_lists = 1; num_lists <= 7; num_lists++)
        check(grade, num_lists, 32, grade_fill_counts_positive);
}

static void few_experts(struct grade_context *grade)
{
    for (int num_experts = 1; num_experts <= 16; num_experts++)
        check(grade, 2, num_experts, grade_fill_counts_positive);
}

static void more_experts(struct grade_context *grade)
{
    for (int num_experts = 17; num_experts < 32; num_experts++)
        check(grade, 2, num_experts, grade_fill_counts_positive);
}

static void empty_groups(struct grade_context *grade)
{
    check(grade, 8, 32, fill_sparse);
    check(grade, 8, 20, grade_fill_counts_of_one_expert);
    check(grade, 2, 32, grade_fill_counts_zero);
}

static void large_counts(struct grade_context *grade)
{
    check(grade, 4, 32, fill_large);
    check(grade, 4, 31, fill_large);
}

/** Allows five shuffles, and one more for solutions that first shift the values by one lane. */
static void shuffles(struct grade_context *grade)
{
    enum { LISTS = 4, STEPS = 6 };

    check(grade, LISTS, 32, grade_fill_counts_positive);
    grade_check_shuffles_only(grade, LISTS, STEPS - 1, STEPS);
}

static void shared_memory(struct grade_context *grade)
{
    check(grade, 4, 32, grade_fill_counts_positive);
    grade_check_at_most(grade, "shared_store_requests", grade_last_launch_counter(grade, "shared_store_requests"), 0);
}

const struct grade_case grade_cases[] = {
    {"one_list", one_list, false},          {"whole_warp", whole_warp, false},
    {"many_lists", many_lists, false},      {"equal_counts", equal_counts, false},
    {"last_block", last_block, false},      {"few_experts", few_experts, false},
    {"more_experts", more_experts, false},  {"empty_groups", empty_groups, false},
    {"large_counts", large_counts, false},  {"shuffles", shuffles, true},
    {"shared_memory", shared_memory, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
