/** @file grader.c  16b_warpgroup_sums: checks that every sum is correct and stored at its index. */
#include "exercise.h"
#include "../grade/grade.h"

#include <string.h>

enum { MOST = 8 };

/** Draws an integer from -MOST to MOST, so that sums are exact. Returns it as bf16, and stores it in `value`. */
static uint16_t whole_number(struct grade_context *grade, int *value)
{
    float number;
    uint32_t bits;

    *value = (int)random_below(grade_random(grade), 2 * MOST + 1) - MOST;
    number = (float)*value;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/** Launches the kernel on `count` tokens and checks every sum. */
static void multiply(struct grade_context *grade, int count)
{
    const size_t rows = (size_t)(MMA_ROWS + count) * ROW_LENGTH;
    uint16_t *const bits = grade_allocate_host(grade, rows * sizeof *bits);
    int *const values = grade_allocate_host(grade, rows * sizeof *values);
    float *const expected = grade_allocate_host(grade, (size_t)count * MMA_ROWS * sizeof *expected);

    for (size_t i = 0; i < rows; i++)
        bits[i] = whole_number(grade, &values[i]);
    for (int i = 0; i < count * MMA_ROWS; i++) {
        int sum = 0;

        for (int k = 0; k < ROW_LENGTH; k++)
            sum += values[i % MMA_ROWS * ROW_LENGTH + k] * values[(MMA_ROWS + i / MMA_ROWS) * ROW_LENGTH + k];
        expected[i] = (float)sum;
    }
    grade_describe_input(grade, "%d tokens", count);

    const uint16_t *const weights = grade_device_input(grade, "weights", bits,
                                                       (size_t)MMA_ROWS * ROW_LENGTH * sizeof *bits);
    const uint16_t *const tokens = grade_device_input(grade, "tokens", bits + MMA_ROWS * ROW_LENGTH,
                                                      (size_t)count * ROW_LENGTH * sizeof *bits);
    float *const sums = grade_device_output(grade, "sums", (size_t)count * MMA_ROWS * sizeof *sums);

    GRADE_LAUNCH_AND_CHECK(grade, product_launch(weights, tokens, count, sums));
    grade_check_equal_floats(grade, "sums", "number", expected, sums, count * MMA_ROWS);
}

static void all_tokens(struct grade_context *grade)
{
    multiply(grade, MAX_TOKENS);
}

static void fewer_tokens(struct grade_context *grade)
{
    multiply(grade, 13);
    multiply(grade, 1);
}

const struct grade_case grade_cases[] = {
    {"all_tokens", all_tokens, false},
    {"fewer_tokens", fewer_tokens, false},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
const struct gpu_needs grade_gpu_needs = {
    .min_compute_capability = 90, .requires_exact_capability = true, .feature_name = "products of warpgroups (wgmma)"};
