/** @file test_covering.c  Tests the covering designs of --check-all. */
#include "harness/core/covering.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

enum { A, B, C, D, NUM_DIMENSIONS };

static const struct covering_dimension dimensions[NUM_DIMENSIONS] = {
    [A] = {CORNERS(1, 2, 3, 4, 5, 6, 7)},
    [B] = {CORNERS(0, 10, 20, 30, 1000), .num_isolated_corners = 1},
    [C] = {CORNERS(0, 1)},
    [D] = {CORNERS(0, 1, 2)},
};

/** A list of problems, each given by its corners. */
struct problems {
    int64_t corners[200][NUM_DIMENSIONS];
    int count;
};

static bool any(const int64_t *corners)
{
    (void)corners;
    return true;
}

/** Accepts every problem except those with A = 7 and B = 30 and those with B = 20. */
static bool some(const int64_t *corners)
{
    return !(corners[A] == 7 && corners[B] == 30) && corners[B] != 20;
}

/** Makes the design for an implementation that supports the problems that `supports` accepts. */
static void make(bool (*supports)(const int64_t *corners), uint64_t seed, bool stop_after_corners,
                 struct covering_design *covering, struct problems *problems)
{
    problems->count = 0;
    covering_start(covering, dimensions, NUM_DIMENSIONS, seed, stop_after_corners);
    covering_add_corner(covering, A, 8, false);
    covering_add_corner(covering, A, 3, false);
    while (covering_propose_problem(covering)) {
        int64_t *const corners = problems->corners[problems->count];

        for (int d = 0; d < NUM_DIMENSIONS; d++)
            corners[d] = covering_proposed_corner(covering, d);
        if (!supports(corners))
            continue;
        covering_accept_problem(covering);
        problems->count++;
        assert_in_range(problems->count, 1, 199);
    }
}

/** Returns the number of problems that have these corners in two dimensions. */
static int with_pair(const struct problems *problems, int d, int64_t corner, int other, int64_t other_corner)
{
    int count = 0;

    for (int i = 0; i < problems->count; i++)
        count += problems->corners[i][d] == corner && problems->corners[i][other] == other_corner;
    return count;
}

static void every_pair_is_in_a_problem(void **state)
{
    static struct covering_design covering;
    struct problems problems;

    (void)state;
    make(any, 1, false, &covering, &problems);
    for (int64_t a = 1; a <= 8; a++) {
        for (int64_t b = 0; b <= 30; b += 10)
            assert_true(with_pair(&problems, A, a, B, b) > 0);
        for (int64_t d = 0; d < 3; d++)
            assert_true(with_pair(&problems, A, a, D, d) > 0 && with_pair(&problems, B, a % 4 * 10, D, d) > 0);
    }
    assert_int_equal(with_pair(&problems, B, 1000, B, 1000), 1);
    assert_int_equal(with_pair(&problems, A, 1, B, 1000), 1); /* the other dimensions have usual values */
    assert_in_range(problems.count, 8 * 4 + 1, 50);
    assert_int_equal(covering_num_corners(&covering, CORNERS_COVERED), 8 + 5 + 2 + 3);
    assert_int_equal(covering_num_pairs(&covering, CORNERS_COVERED), 8 * 4 + (8 + 4) * (2 + 3) + 2 * 3);
    assert_int_equal(covering_num_pairs(&covering, CORNERS_NOT_SUPPORTED), 0);
}

static void pairs_without_support_are_counted(void **state)
{
    static struct covering_design covering;
    struct problems problems;

    (void)state;
    make(some, 1, false, &covering, &problems);
    assert_int_equal(with_pair(&problems, B, 20, B, 20), 0);
    assert_int_equal(with_pair(&problems, A, 7, B, 30), 0);
    assert_true(with_pair(&problems, A, 6, B, 30) > 0);
    assert_int_equal(covering_num_corners(&covering, CORNERS_NOT_SUPPORTED), 1);
    assert_int_equal(covering_num_pairs(&covering, CORNERS_NOT_SUPPORTED), 1 + 8 + 2 + 3);
}

static void every_corner_alone_needs_few_problems(void **state)
{
    static struct covering_design covering;
    struct problems problems;

    (void)state;
    make(some, 1, true, &covering, &problems);
    assert_int_equal(covering_num_corners(&covering, CORNERS_COVERED), 8 + 4 + 2 + 3);
    assert_in_range(problems.count, 8, 10);
}

static void the_seed_decides(void **state)
{
    static struct covering_design covering;
    struct problems problems, same, other;

    (void)state;
    make(any, 1, false, &covering, &problems);
    make(any, 1, false, &covering, &same);
    make(any, 2, false, &covering, &other);
    assert_int_equal(problems.count, same.count);
    assert_memory_equal(problems.corners, same.corners, (size_t)same.count * sizeof *same.corners);
    assert_memory_not_equal(problems.corners, other.corners, 10 * sizeof *other.corners);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_in_a_problem),
        cmocka_unit_test(pairs_without_support_are_counted),
        cmocka_unit_test(every_corner_alone_needs_few_problems),
        cmocka_unit_test(the_seed_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
