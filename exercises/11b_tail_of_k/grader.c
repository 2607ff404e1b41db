/** @file grader.c  11b_tail_of_k: checks every sum of a tiled product, for any length, then bank conflicts and
 * loads. */
#include "exercise.h"
#include "../grade/grade.h"

enum { TILE = 16, K_STEP = 32 };

/** Makes small nonzero integers, so that sums are exact and no product is 0. */
static float *small_numbers(struct grade_context *grade, int count)
{
    float *const numbers = grade_allocate_host(grade, (size_t)count * sizeof *numbers);

    for (int i = 0; i < count; i++)
        numbers[i] = (1.0f + (float)random_below(grade_random(grade), 3)) *
                     (random_below(grade_random(grade), 2) ? 1.0f : -1.0f);
    return numbers;
}

static void check(struct grade_context *grade, int num_rows, int num_columns, int length)
{
    const float *const rows = small_numbers(grade, num_rows * length);
    const float *const weights = small_numbers(grade, num_columns * length);
    const float *const device_rows = grade_device_input(grade, "rows", rows, (size_t)num_rows * length * sizeof *rows);
    const float *const device_weights = grade_device_input(grade, "weights", weights,
                                                           (size_t)num_columns * length * sizeof *weights);
    float *const out = grade_device_output(grade, "out", (size_t)num_rows * num_columns * sizeof *out);
    const float *got;

    grade_describe_input(grade, "%d row%s, %d column%s, %d element%s", num_rows, num_rows == 1 ? "" : "s", num_columns,
                         num_columns == 1 ? "" : "s", length, length == 1 ? "" : "s");
    GRADE_LAUNCH_AND_CHECK(grade, product_launch(device_rows, device_weights, num_rows, num_columns, length, out));
    got = grade_download(grade, out);
    for (int r = 0; r < num_rows; r++)
        for (int c = 0; c < num_columns; c++) {
            const float *const element = &got[r * num_columns + c];
            float expected = 0.0f;

            for (int k = 0; k < length; k++)
                expected += rows[r * length + k] * weights[c * length + k];
            if (*element == expected)
                continue;
            if (grade_is_unwritten(element, sizeof *element))
                grade_fail(grade, "row %d, column %d: expected %g, but it was never written", r, c, (double)expected);
            grade_fail(grade, "row %d, column %d: expected %g, got %g", r, c, (double)expected, (double)*element);
        }
}

static void one_step(struct grade_context *grade)
{
    check(grade, TILE, TILE, K_STEP);
}

static void some_steps(struct grade_context *grade)
{
    check(grade, TILE, TILE, 2 * K_STEP);
    check(grade, TILE, TILE, 5 * K_STEP);
}

/** Runs a partial step, alone and after full steps; the last row ends at the end of the array. */
static void tail_of_k(struct grade_context *grade)
{
    check(grade, TILE, TILE, K_STEP + 1);
    check(grade, TILE, TILE, K_STEP - 1);
    check(grade, TILE, TILE, 1);
    check(grade, TILE, TILE, 2 * K_STEP + 1 + (int)random_below(grade_random(grade), K_STEP - 1));
}

static void any_shape(struct grade_context *grade)
{
    check(grade, 1, 1, 1);
    check(grade, TILE + 1, TILE - 1, 40);
    check(grade, 3 * TILE, 2 * TILE, K_STEP);
    check(grade, 5, 2 * TILE + 7, 70);
}

static void no_bank_conflicts(struct grade_context *grade)
{
    check(grade, 2 * TILE, TILE, 2 * K_STEP);
    grade_check_no_bank_conflicts(grade);
}

/** Allows one load per element of a tile. A kernel without tiles would issue 16 times as many load requests. */
static void each_element_once(struct grade_context *grade)
{
    enum { ROWS = 2, COLUMNS = 3, STEPS = 2, REQUESTS_A_TILE = TILE * K_STEP / 32 };

    check(grade, ROWS * TILE, COLUMNS * TILE, STEPS * K_STEP);
    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                        (uint64_t)ROWS * COLUMNS * STEPS * 2 * REQUESTS_A_TILE);
}

const struct grade_case grade_cases[] = {
    {"one_step", one_step, false},
    {"some_steps", some_steps, false},
    {"tail_of_k", tail_of_k, false},
    {"any_shape", any_shape, false},
    {"no_bank_conflicts", no_bank_conflicts, true},
    {"each_element_once", each_element_once, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
