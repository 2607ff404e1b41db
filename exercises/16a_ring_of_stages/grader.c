/**
 * @file grader.c
 * @brief 16a_ring_of_stages: checks the sums for any number of rounds of the ring, and that bulk copies copy the rows.
 */
#include "exercise.h"
#include "../grade/grade.h"

enum { MOST = 8 };

/** Launches the kernel on `num_rows` rows of integers, so that no sum is rounded, and checks the sums. */
static void add_rows(struct grade_context *grade, int num_rows)
{
    float *const rows = grade_allocate_host(grade, (size_t)num_rows * ROW_LENGTH * sizeof *rows);
    float *const expected = grade_allocate_host(grade, ROW_LENGTH * sizeof *expected);

    for (int i = 0; i < ROW_LENGTH; i++)
        expected[i] = 0.0f;
    for (int i = 0; i < num_rows * ROW_LENGTH; i++) {
        rows[i] = (float)((int)random_below(grade_random(grade), 2 * MOST) + 1);
        expected[i % ROW_LENGTH] += rows[i];
    }
    grade_describe_input(grade, "%d rows, a ring of %d stages", num_rows, STAGES);

    const float *const device_rows = grade_device_input(grade, "rows", rows,
                                                        (size_t)num_rows * ROW_LENGTH * sizeof *rows);
    float *const column_sums = grade_device_output(grade, "column_sums", ROW_LENGTH * sizeof *column_sums);

    GRADE_LAUNCH_AND_CHECK(grade, sum_rows_launch(device_rows, num_rows, column_sums));
    grade_check_equal_floats(grade, "column_sums", "thread", expected, column_sums, ROW_LENGTH);
}

static void one_round(struct grade_context *grade)
{
    add_rows(grade, STAGES);
}

static void two_rounds(struct grade_context *grade)
{
    add_rows(grade, 2 * STAGES);
}

static void many_rounds(struct grade_context *grade)
{
    add_rows(grade, 7 * STAGES + 1);
    add_rows(grade, 1);
}

static void by_bulk_copies(struct grade_context *grade)
{
    add_rows(grade, 10);
    grade_check_at_least(grade, "bulk_copies", grade_last_launch_counter(grade, "bulk_copies"), 10, "one for each row");
    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"), 20);
}

const struct grade_case grade_cases[] = {
    {"one_round", one_round, false},
    {"two_rounds", two_rounds, false},
    {"many_rounds", many_rounds, false},
    {"by_bulk_copies", by_bulk_copies, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
const struct gpu_needs grade_gpu_needs = {.min_compute_capability = 90, .feature_name = "bulk copies"};
