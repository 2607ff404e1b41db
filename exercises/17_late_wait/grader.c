/** @file grader.c  17_late_wait: checks every logit of several steps, and what a thread does before it waits. */
#include "exercise.h"
#include "../grade/grade.h"

#include <string.h>

/** The inputs of several steps, on the host, and the expected logits. */
struct steps {
    int num_rows, num_steps;
    int32_t *weights, *bias, *prompt, *logits;
};

/** Draws a number from -4 to 4, but not 0, for each element. */
static int32_t *draw(struct grade_context *grade, int count)
{
    int32_t *const numbers = grade_allocate_host(grade, (size_t)count * sizeof *numbers);

    for (int i = 0; i < count; i++) {
        numbers[i] = (int32_t)random_below(grade_random(grade), 8) - 4;
        numbers[i] += numbers[i] >= 0;
    }
    return numbers;
}

/** Computes the logits on the host. */
static void expect(struct grade_context *grade, struct steps *steps)
{
    int32_t token[WIDTH];

    steps->logits = grade_allocate_host(grade, (size_t)steps->num_rows * sizeof *steps->logits);
    memset(steps->logits, 0, (size_t)steps->num_rows * sizeof *steps->logits);
    for (int step = 0; step < steps->num_steps; step++) {
        for (int i = 0; i < WIDTH; i++)
            token[i] = steps->prompt[step * WIDTH + i] + (steps->logits[i % steps->num_rows] & 3);
        for (int row = 0; row < steps->num_rows; row++) {
            steps->logits[row] += steps->bias[row];
            for (int i = 0; i < WIDTH; i++)
                steps->logits[row] += steps->weights[row * WIDTH + i] * token[i];
        }
    }
}

/** Runs `num_steps` steps on `num_rows` rows. Checks every logit, unless stop_at_wait ends the threads at the wait. */
static void run(struct grade_context *grade, int num_rows, int num_steps, bool stop_at_wait)
{
    struct steps steps = {.num_rows = num_rows,
                          .num_steps = num_steps,
                          .weights = draw(grade, num_rows * WIDTH),
                          .bias = draw(grade, num_rows),
                          .prompt = draw(grade, num_steps * WIDTH)};
    const size_t row_bytes = (size_t)num_rows * sizeof(int32_t);
    int32_t *const zeros = grade_allocate_host(grade, row_bytes);

    memset(zeros, 0, row_bytes);
    expect(grade, &steps);
    grade_describe_input(grade, "%d row%s, %d step%s%s", num_rows, num_rows == 1 ? "" : "s", num_steps,
                         num_steps == 1 ? "" : "s", stop_at_wait ? ", up to the wait" : "");

    const int32_t *const weights = grade_device_input(grade, "weights", steps.weights, row_bytes * WIDTH);
    const int32_t *const bias = grade_device_input(grade, "bias", steps.bias, row_bytes);
    const int32_t *const prompt = grade_device_input(grade, "prompt", steps.prompt,
                                                     (size_t)num_steps * WIDTH * sizeof *steps.prompt);
    int32_t *const token = grade_device_output(grade, "token", WIDTH * sizeof *token);
    int32_t *const logits = grade_device_inout(grade, "logits", zeros, row_bytes);

    GRADE_LAUNCH_AND_CHECK(
        grade, decode_steps_launch(weights, bias, prompt, num_rows, num_steps, stop_at_wait, token, logits));
    if (!stop_at_wait)
        grade_check_equal_ints(grade, "logits", "row", steps.logits, logits, (size_t)num_rows);
}

static void one_step(struct grade_context *grade)
{
    run(grade, 3, 1, false);
}

static void some_steps(struct grade_context *grade)
{
    run(grade, 1, 2, false);
    run(grade, 7, 4, false);
}

/** Counts the operations before the wait; each row has a block of two warps. */
static void what_runs_before_the_wait(struct grade_context *grade)
{
    enum { ROWS = 5 };

    run(grade, ROWS, 1, true);
    grade_check_counter_is_zero(grade, "global_store_requests", "a store before WAIT(), or a path without it");
    grade_check_counter_is_zero(grade, "atomic_requests",
                                "the sum needs the token, so no thread adds to it before WAIT()");
    grade_check_at_least(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                         3 * ROWS, "two warps of a row can load weights, and a thread the bias, before WAIT()");
    grade_check_at_least(grade, "shared_store_requests", grade_last_launch_counter(grade, "shared_store_requests"),
                         ROWS, "shared memory belongs to the block: the sum can begin before WAIT()");
    grade_check_at_least(grade, "block_barriers", grade_last_launch_counter(grade, "block_barriers"), ROWS,
                         "the barrier waits only for the own block: it can stand before WAIT()");
    grade_check_at_most_per_unit(grade, "global_load_requests",
                                 grade_last_launch_counter(grade, "global_load_requests"), 3, ROWS, "row");
    grade_check_at_most_per_unit(grade, "block_barriers", grade_last_launch_counter(grade, "block_barriers"), 1, ROWS,
                                 "row");
}

const struct grade_case grade_cases[] = {
    {"one_step", one_step, false},
    {"some_steps", some_steps, false},
    {"what_runs_before_the_wait", what_runs_before_the_wait, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
const struct gpu_needs grade_gpu_needs = {.min_compute_capability = 90, .feature_name = "launches that overlap"};
