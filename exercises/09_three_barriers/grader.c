/** @file grader.c  09_three_barriers: a block's scan, first that it is right, then what it takes. */
#include "exercise.h"
#include "grade/grade.h"

#include <inttypes.h>
#include <stdio.h>

/** How a case fills one list. */
typedef void fill(struct random *random, int32_t *counts, int num_experts);

static void fill_small(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = 1 + (int32_t)random_below(random, 99);
}

/** Most groups are empty. */
static void fill_sparse(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = random_below(random, 50) ? 0 : 1 + (int32_t)random_below(random, 9);
}

static void fill_zero(struct random *random, int32_t *counts, int num_experts)
{
    (void)random;
    for (int e = 0; e < num_experts; e++)
        counts[e] = 0;
}

/** Everything goes to one expert. */
static void fill_one(struct random *random, int32_t *counts, int num_experts)
{
    fill_zero(random, counts, num_experts);
    counts[random_below(random, (uint32_t)num_experts)] = 1 + (int32_t)random_below(random, 999);
}

/** Odd numbers whose sums no float holds: 1,024 of them are below 2^31. */
static void fill_large(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = (1 << 20) + 1 + 2 * (int32_t)random_below(random, 1 << 18);
}

/** The README's and chapter 09's eight numbers. */
static void fill_shown(struct random *random, int32_t *counts, int num_experts)
{
    static const int32_t shown[] = {3, 1, 7, 0, 4, 1, 6, 3};

    (void)random;
    for (int e = 0; e < num_experts; e++)
        counts[e] = shown[e];
}

/** Says which offset is wrong; `expert` is num_experts for the list's total. */
static _Noreturn void fail_offset(struct grade *grade, int list, int expert, int num_experts, int32_t expected,
                                  int32_t got)
{
    char which[96];

    if (expert < num_experts)
        snprintf(which, sizeof which, "list %d, expert %d (warp %d, lane %d)", list, expert, expert / WARP_SIZE,
                 expert % WARP_SIZE);
    else
        snprintf(which, sizeof which, "list %d, the total behind its last expert", list);
    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "%s: wrote nothing; expected offset %" PRId32, which, expected);
    grade_fail(grade, "%s: expected offset %" PRId32 ", got %" PRId32, which, expected, got);
}

static void check_list(struct grade *grade, int list, int num_experts, const int32_t *counts, const int32_t *offsets)
{
    int32_t expected = 0;

    for (int e = 0; e <= num_experts; e++) {
        if (offsets[e] != expected)
            fail_offset(grade, list, e, num_experts, expected, offsets[e]);
        if (e < num_experts)
            expected += counts[e];
    }
}

static void check(struct grade *grade, int num_lists, int num_experts, fill *fill_list)
{
    const size_t num_counts = (size_t)num_lists * num_experts, num_offsets = num_counts + (size_t)num_lists;
    int32_t *const counts = grade_host(grade, num_counts * sizeof *counts);

    for (int list = 0; list < num_lists; list++)
        fill_list(grade_random(grade), counts + (size_t)list * num_experts, num_experts);
    grade_given(grade, "%d list%s of %d expert%s", num_lists, num_lists == 1 ? "" : "s", num_experts,
                num_experts == 1 ? "" : "s");

    const int32_t *const device_counts = grade_input(grade, "counts", counts, num_counts * sizeof *counts);
    int32_t *const device_offsets = grade_output(grade, "offsets", num_offsets * sizeof *device_offsets);

    grade_ran(grade, block_scan_launch(device_counts, num_lists, num_experts, device_offsets));

    const int32_t *const offsets = grade_result(grade, device_offsets);

    for (int list = 0; list < num_lists; list++)
        check_list(grade, list, num_experts, counts + (size_t)list * num_experts,
                   offsets + (size_t)list * (num_experts + 1));
}

static void eight_experts(struct grade *grade)
{
    check(grade, 1, 8, fill_shown);
}

static void all_threads(struct grade *grade)
{
    check(grade, 1, THREADS, fill_small);
}

static void any_number_of_experts(struct grade *grade)
{
    static const int counts[] = {1, 2, 31, 32, 33, 64, 65, 160, 256, 1000, 1023};

    for (int i = 0; i < 11; i++)
        check(grade, 1, counts[i], fill_small);
}

static void several_lists(struct grade *grade)
{
    check(grade, 5, THREADS, fill_small);
    check(grade, 4, 77, fill_small);
}

static void empty_groups(struct grade *grade)
{
    check(grade, 2, THREADS, fill_sparse);
    check(grade, 4, 300, fill_one);
    check(grade, 1, 500, fill_zero);
}

static void large_counts(struct grade *grade)
{
    check(grade, 2, THREADS, fill_large);
}

/** One list, so that the figure is the list's; then three, so that no list is cheaper at the expense of another. */
static void barriers(struct grade *grade)
{
    enum { BARRIERS = 3 };
    static const int lists[] = {1, 3};

    for (int i = 0; i < 2; i++) {
        check(grade, lists[i], THREADS, fill_small);
        grade_budget(grade, "block_barriers", grade_counter(grade, "block_barriers"), (uint64_t)(lists[i] * BARRIERS));
    }
}

static void shared_memory(struct grade *grade)
{
    enum { WARPS = THREADS / WARP_SIZE, READS = 32 };

    check(grade, 1, THREADS, fill_small);
    grade_budget(grade, "shared_load_requests", grade_counter(grade, "shared_load_requests"), WARPS * READS);
}

/** A request of each warp reads its counts; there is nothing else. */
static void global_memory(struct grade *grade)
{
    check(grade, 1, THREADS, fill_small);
    grade_budget(grade, "global_load_requests", grade_counter(grade, "global_load_requests"), THREADS / WARP_SIZE);
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
