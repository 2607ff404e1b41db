/** @file grader.c  09_three_barriers: checks the offsets of a block's scan, then its barriers and memory requests. */
#include "exercise.h"
#include "../grade/grade_scan.h"

/** Fills the list with counts, most of which are 0. */
static void fill_sparse(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = random_below(random, 50) ? 0 : 1 + (int32_t)random_below(random, 9);
}

/** Fills the list with odd numbers whose sums a float cannot hold exactly; 1,024 of them add up to less than 2^31. */
static void fill_large(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = (1 << 20) + 1 + 2 * (int32_t)random_below(random, 1 << 18);
}

/** Fills the list with the eight numbers of the README and of chapter 09. */
static void fill_shown(struct random *random, int32_t *counts, int num_experts)
{
    static const int32_t shown[] = {3, 1, 7, 0, 4, 1, 6, 3};

    (void)random;
    for (int e = 0; e < num_experts; e++)
        counts[e] = shown[e];
}

static void check(struct grade_context *grade, int num_lists, int num_experts, grade_fill_counts_function *fill)
{
    grade_check_scan(grade, block_scan_launch, num_lists, num_experts, fill);
}

static void eight_experts(struct grade_context *grade)
{
    check(grade, 1, 8, fill_shown);
}

static void all_threads(struct grade_context *grade)
{
    check(grade, 1, THREADS, grade_fill_counts_positive);
}

static void any_number_of_experts(struct grade_context *grade)
{
    static const int counts[] = {1, 2, 31, 32, 33, 64, 65, 160, 256, 1000, 1023};

    for (int i = 0; i < 11; i++)
        check(grade, 1, counts[i], grade_fill_counts_positive);
}

static void several_lists(struct grade_context *grade)
{
    check(grade, 5, THREADS, grade_fill_counts_positive);
    check(grade, 4, 77, grade_fill_counts_positive);
}

static void empty_groups(struct grade_context *grade)
{
    check(grade, 2, THREADS, fill_sparse);
    check(grade, 4, 300, grade_fill_counts_of_one_expert);
    check(grade, 1, 500, grade_fill_counts_zero);
}

static void large_counts(struct grade_context *grade)
{
    check(grade, 2, THREADS, fill_large);
}

/** Allows three barriers for each list, both for a single list and for three lists. */
static void barriers(struct grade_context *grade)
{
    enum { BARRIERS = 3 };
    static const int lists[] = {1, 3};

    for (int i = 0; i < 2; i++) {
        check(grade, lists[i], THREADS, grade_fill_counts_positive);
        grade_check_at_most(grade, "block_barriers", grade_last_launch_counter(grade, "block_barriers"),
                            (uint64_t)(lists[i] * BARRIERS));
    }
}

static void shared_memory(struct grade_context *grade)
{
    enum { WARPS = THREADS / WARP_SIZE, READS = 32 };

    check(grade, 1, THREADS, grade_fill_counts_positive);
    grade_check_at_most_per_unit(grade, "shared_load_requests and atomic_requests",
                                 grade_last_launch_counter(grade, "shared_load_requests") +
                                     grade_last_launch_counter(grade, "atomic_requests"),
                                 READS, WARPS, "warp");
}

/** Allows each warp one request, which loads its counts. */
static void global_memory(struct grade_context *grade)
{
    check(grade, 1, THREADS, grade_fill_counts_positive);
    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                        THREADS / WARP_SIZE);
}

const struct grade_case grade_cases[] = {
    {"eight_experts", eight_experts, false},
    {"all_threads", all_threads, false},
    {"any_number_of_experts", any_number_of_experts, false},
    {"several_lists", several_lists, false},
    {"empty_groups", empty_groups, false},
    {"large_counts", large_counts, false},
    {"barriers", barriers, true},
    {"shared_memory", shared_memory, true},
    {"global_memory", global_memory, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
