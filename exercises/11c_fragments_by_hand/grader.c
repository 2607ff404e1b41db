/** @file grader.c  11c_fragments_by_hand: checks every sum of one product, and that lanes exchange no data. */
#include "exercise.h"
#include "../grade/grade.h"

#include <string.h>

enum { MOST = 8 };

/** Returns the bf16 bits of an integer from -128 to 128, which bf16 holds exactly. */
static uint16_t bf16_bits(int value)
{
    const float number = (float)value;
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/** Launches the kernel on integers, so that no sum is rounded, and checks every sum. */
static void multiply(struct grade_context *grade, int weights[WEIGHT_ROWS][DEPTH], int tokens[DEPTH][TOKENS])
{
    uint16_t *const weight_bits = grade_allocate_host(grade, WEIGHT_ROWS * DEPTH * sizeof *weight_bits);
    uint16_t *const token_bits = grade_allocate_host(grade, DEPTH * TOKENS * sizeof *token_bits);

    for (int i = 0; i < WEIGHT_ROWS * DEPTH; i++)
        weight_bits[i] = bf16_bits(weights[i / DEPTH][i % DEPTH]);
    for (int i = 0; i < DEPTH * TOKENS; i++)
        token_bits[i] = bf16_bits(tokens[i / TOKENS][i % TOKENS]);

    const uint16_t *const device_weights = grade_device_input(grade, "weights", weight_bits,
                                                              WEIGHT_ROWS * DEPTH * sizeof *weight_bits);
    const uint16_t *const device_tokens = grade_device_input(grade, "tokens", token_bits,
                                                             DEPTH * TOKENS * sizeof *token_bits);
    float *const sums = grade_device_output(grade, "sums", TOKENS * WEIGHT_ROWS * sizeof *sums);

    GRADE_LAUNCH_AND_CHECK(grade, product_launch(device_weights, device_tokens, sums));

    const float *const got = grade_download(grade, sums);

    for (int token = 0; token < TOKENS; token++)
        for (int row = 0; row < WEIGHT_ROWS; row++) {
            const float *const element = &got[token * WEIGHT_ROWS + row];
            int expected = 0;

            for (int k = 0; k < DEPTH; k++)
                expected += weights[row][k] * tokens[k][token];
            if (grade_is_unwritten(element, sizeof *element))
                grade_fail(grade, "token %d, row %d: expected %d, but it was never written", token, row, expected);
            if (*element != (float)expected)
                grade_fail(grade, "token %d, row %d: expected %d, got %g", token, row, expected, (double)*element);
        }
}

/** Multiplies by the identity: the sums are the tokens' 128 elements, all different, so that any mix-up is detected. */
static void identity(struct grade_context *grade)
{
    int weights[WEIGHT_ROWS][DEPTH] = {{0}}, tokens[DEPTH][TOKENS];

    grade_describe_input(grade, "the weights are the identity matrix");
    for (int i = 0; i < WEIGHT_ROWS; i++)
        weights[i][i] = 1;
    for (int i = 0; i < DEPTH * TOKENS; i++)
        tokens[i / TOKENS][i % TOKENS] = i + 1;
    multiply(grade, weights, tokens);
}

/** Fills both matrices with integers from -MOST to MOST and multiplies them. */
static void multiply_random(struct grade_context *grade)
{
    int weights[WEIGHT_ROWS][DEPTH], tokens[DEPTH][TOKENS];

    for (int i = 0; i < WEIGHT_ROWS * DEPTH; i++)
        weights[i / DEPTH][i % DEPTH] = (int)random_below(grade_random(grade), 2 * MOST + 1) - MOST;
    for (int i = 0; i < DEPTH * TOKENS; i++)
        tokens[i / TOKENS][i % TOKENS] = (int)random_below(grade_random(grade), 2 * MOST + 1) - MOST;
    multiply(grade, weights, tokens);
}

static void random_numbers(struct grade_context *grade)
{
    grade_describe_input(grade, "whole numbers from -8 to 8");
    for (int i = 0; i < 3; i++)
        multiply_random(grade);
}

/** Checks that lanes exchange no data: each loads its own elements and stores its own sums. */
static void no_exchange(struct grade_context *grade)
{
    multiply_random(grade);
    grade_check_counter_is_zero(grade, "shuffles", "each lane loads what it holds");
    grade_check_counter_is_zero(grade, "shared_load_requests", "each lane loads what it holds from global memory");
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"), 4);
}

const struct grade_case grade_cases[] = {
    {"identity", identity, false},
    {"random_numbers", random_numbers, false},
    {"no_exchange", no_exchange, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
const struct gpu_needs grade_gpu_needs = {.min_compute_capability = 80,
                                          .feature_name = "products of bf16 on tensor cores, m16n8k16"};
