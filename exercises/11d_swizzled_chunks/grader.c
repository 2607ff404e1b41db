/** @file grader.c  11d_swizzled_chunks: checks the sums, and that there are no bank conflicts. */
#include "exercise.h"
#include "../grade/grade.h"

#include <string.h>

enum { MOST = 8 };

/** Returns the bf16 bits of an integer from -8 to 8, which bf16 holds exactly. */
static uint16_t bf16_bits(int value)
{
    const float number = (float)value;
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/** Launches the kernel on integers, so that no sum is rounded, and checks every sum. */
static void multiply(struct grade_context *grade, const int *weights, const int *tokens)
{
    uint16_t *const bits = grade_allocate_host(grade, (size_t)STAGE_ROWS * K_STEP * sizeof *bits);
    float *const expected = grade_allocate_host(grade, (size_t)TOKEN_ROWS * WEIGHT_ROWS * sizeof *expected);

    for (int i = 0; i < STAGE_ROWS * K_STEP; i++)
        bits[i] = bf16_bits(i < WEIGHT_ROWS * K_STEP ? weights[i] : tokens[i - WEIGHT_ROWS * K_STEP]);
    for (int t = 0; t < TOKEN_ROWS; t++)
        for (int row = 0; row < WEIGHT_ROWS; row++) {
            int sum = 0;

            for (int k = 0; k < K_STEP; k++)
                sum += weights[row * K_STEP + k] * tokens[t * K_STEP + k];
            expected[t * WEIGHT_ROWS + row] = (float)sum;
        }

    const uint16_t *const device_weights = grade_device_input(grade, "weights", bits,
                                                              (size_t)WEIGHT_ROWS * K_STEP * sizeof *bits);
    const uint16_t *const device_tokens = grade_device_input(grade, "tokens", bits + WEIGHT_ROWS * K_STEP,
                                                             (size_t)TOKEN_ROWS * K_STEP * sizeof *bits);
    float *const sums = grade_device_output(grade, "sums", (size_t)TOKEN_ROWS * WEIGHT_ROWS * sizeof *sums);

    GRADE_LAUNCH_AND_CHECK(grade, multiply_launch(device_weights, device_tokens, sums));
    grade_check_equal_floats(grade, "sums", "token * 32 + row", expected, sums, (size_t)TOKEN_ROWS * WEIGHT_ROWS);
}

static void multiply_random(struct grade_context *grade)
{
    int *const numbers = grade_allocate_host(grade, (size_t)STAGE_ROWS * K_STEP * sizeof *numbers);

    for (int i = 0; i < STAGE_ROWS * K_STEP; i++)
        numbers[i] = (int)random_below(grade_random(grade), 2 * MOST + 1) - MOST;
    multiply(grade, numbers, numbers + WEIGHT_ROWS * K_STEP);
}

/* --- correctness -------------------------------------------------------------------------------------------------- */

/** Sets token t to 1 at element 2t and to 0 elsewhere, so that each of its sums is element 2t of a row of weights. */
static void one_element(struct grade_context *grade)
{
    int *const numbers = grade_allocate_host(grade, (size_t)STAGE_ROWS * K_STEP * sizeof *numbers);
    int *const tokens = numbers + WEIGHT_ROWS * K_STEP;

    grade_describe_input(grade, "token t is 1 at element 2t, and 0 elsewhere");
    memset(numbers, 0, (size_t)STAGE_ROWS * K_STEP * sizeof *numbers);
    for (int i = 0; i < WEIGHT_ROWS * K_STEP; i++)
        numbers[i] = (int)random_below(grade_random(grade), MOST) + 1;
    for (int t = 0; t < TOKEN_ROWS; t++)
        tokens[t * K_STEP + 2 * t] = 1;
    multiply(grade, numbers, tokens);
}

static void random_numbers(struct grade_context *grade)
{
    grade_describe_input(grade, "whole numbers from -8 to 8");
    for (int i = 0; i < 3; i++)
        multiply_random(grade);
}

/* --- the budget --------------------------------------------------------------------------------------------------- */

/** Checks that indices are computed without a table or shuffles, which would cost as much as the swizzle saves. */
static void no_detour(struct grade_context *grade)
{
    multiply_random(grade);
    grade_check_counter_is_zero(grade, "shuffles", "an index follows from the row and the chunk");
    grade_check_counter_is_zero(grade, "votes", "an index follows from the row and the chunk");
    grade_check_at_most(grade, "shared_load_requests", grade_last_launch_counter(grade, "shared_load_requests"), 8);
    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"), 6);
}

static void no_conflicts(struct grade_context *grade)
{
    multiply_random(grade);
    grade_check_no_bank_conflicts(grade);
}

const struct grade_case grade_cases[] = {
    {"one_element", one_element, false},
    {"random_numbers", random_numbers, false},
    {"no_detour", no_detour, true},
    {"no_conflicts", no_conflicts, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
const struct gpu_needs grade_gpu_needs = {.min_compute_capability = 80,
                                          .feature_name = "products of bf16 on tensor cores, m16n8k16"};
