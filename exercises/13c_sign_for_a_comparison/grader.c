/**
 * @file grader.c
 * @brief 13c_sign_for_a_comparison: checks the ranks, even in rare rows, and that other rows need no shuffles.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>
#include <string.h>

enum { MAX_ROWS = 8 };

/** Returns a value's sort key: the value with the largest key ranks first. */
static uint32_t key_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? 0 : bits >> 31 ? ~bits : bits | 0x80000000u;
}

/** Fills a row with finite values that all differ, in random order. */
static void fill_row(struct grade_context *grade, float *row)
{
    for (int i = 0; i < WARP_SIZE; i++)
        row[i] = (float)(i - 13) * 0.75f + 0.125f;
    for (int i = WARP_SIZE - 1; i > 0; i--) {
        const int other = (int)random_below(grade_random(grade), (uint64_t)i + 1);
        const float value = row[i];

        row[i] = row[other];
        row[other] = value;
    }
}

/** Launches the kernel on rows that have special values at random positions, and checks the ranks. */
static void check(struct grade_context *grade, int num_rows, const char *what, int num_special, const float *special)
{
    const size_t count = (size_t)num_rows * WARP_SIZE;
    float *const values = grade_allocate_host(grade, count * sizeof *values);
    int32_t *const ranks = grade_allocate_host(grade, count * sizeof *ranks);

    for (int r = 0; r < num_rows; r++) {
        float *const row = values + r * WARP_SIZE;
        const int first = (int)random_below(grade_random(grade), WARP_SIZE);

        fill_row(grade, row);
        for (int i = 0; i < num_special; i++)
            row[(first + 7 * i) % WARP_SIZE] = special[i];
        for (int i = 0; i < WARP_SIZE; i++) {
            int32_t *const rank = ranks + r * WARP_SIZE + i;

            *rank = 0;
            for (int k = 0; k < WARP_SIZE; k++)
                *rank += key_of(row[k]) > key_of(row[i]) || (key_of(row[k]) == key_of(row[i]) && k < i);
        }
    }
    grade_describe_input(grade, "%d rows, %s", num_rows, what);

    const float *const device_values = grade_device_input(grade, "values", values, count * sizeof *values);
    int32_t *const found = grade_device_output(grade, "ranks", count * sizeof *found);

    GRADE_LAUNCH_AND_CHECK(grade, rank_values_largest_first_launch(device_values, num_rows, found));

    const int32_t *const got = grade_download(grade, found);

    for (size_t i = 0; i < count; i++)
        if (got[i] != ranks[i] && !grade_is_unwritten(&got[i], sizeof *got))
            grade_fail(grade, "row %zu, lane %zu, value %g: rank: expected %d, got %d", i / WARP_SIZE, i % WARP_SIZE,
                       (double)values[i], ranks[i], got[i]);
    grade_check_equal_ints(grade, "ranks", "value", ranks, found, count);
}

static void all_differ(struct grade_context *grade)
{
    check(grade, MAX_ROWS, "all values differ", 0, NULL);
}

static void equal_values(struct grade_context *grade)
{
    check(grade, MAX_ROWS, "two are equal", 2, (const float[]){0.5f, 0.5f});
    check(grade, MAX_ROWS, "five are equal", 5, (const float[]){9.0f, 9.0f, 9.0f, 9.0f, 9.0f});
}

/** Runs rows with 0 and -0, which compare equal, although the sign bit of -0 - 0 is set and that of 0 - -0 is not. */
static void two_zeros(struct grade_context *grade)
{
    check(grade, MAX_ROWS, "0 and -0", 2, (const float[]){0.0f, -0.0f});
    check(grade, MAX_ROWS, "-0 and 0", 2, (const float[]){-0.0f, 0.0f});
    grade_check_counter_is_zero(grade, "shuffles",
                                "0 and -0 differ: the sign of their difference tells which is below");
}

static void infinities(struct grade_context *grade)
{
    check(grade, MAX_ROWS, "one is infinite", 1, (const float[]){INFINITY});
    check(grade, MAX_ROWS, "one is -infinity", 1, (const float[]){-INFINITY});
    check(grade, MAX_ROWS, "infinities of both signs, two of each", 4,
          (const float[]){INFINITY, -INFINITY, INFINITY, -INFINITY});
}

static void not_a_number(struct grade_context *grade)
{
    check(grade, MAX_ROWS, "one is NaN", 1, (const float[]){NAN});
    check(grade, MAX_ROWS, "one is NaN, with its sign set", 1, (const float[]){copysignf(NAN, -1.0f)});
    check(grade, MAX_ROWS, "three are NaN", 3, (const float[]){NAN, NAN, NAN});
}

static void quick(struct grade_context *grade)
{
    check(grade, MAX_ROWS, "all values differ", 0, NULL);
    grade_check_counter_is_zero(grade, "shuffles", "a row of finite values that all differ needs no second way");
    grade_check_at_most_per_unit(grade, "votes", grade_last_launch_counter(grade, "votes"), 2, MAX_ROWS, "row");
    grade_check_counter_is_zero(grade, "block_barriers", "there is one warp");
    grade_check_counter_is_zero(grade, "atomic_requests", "each lane counts alone");
}

const struct grade_case grade_cases[] = {
    {"all_differ", all_differ, false},     {"equal_values", equal_values, false}, {"infinities", infinities, false},
    {"not_a_number", not_a_number, false}, {"two_zeros", two_zeros, true},        {"quick", quick, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
