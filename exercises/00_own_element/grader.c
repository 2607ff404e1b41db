/** @file grader.c  00_own_element: checks that every weight is scaled, no block is empty and requests are coalesced. */
#include "exercise.h"
#include "../grade/grade.h"

static void check(struct grade_context *grade, int count)
{
    const size_t bytes = (size_t)count * sizeof(float);
    float *const weights = grade_allocate_host(grade, bytes), *const expected = grade_allocate_host(grade, bytes);
    const float factor = 2.5f;

    for (int i = 0; i < count; i++) {
        weights[i] = (float)(1 + random_below(grade_random(grade), 1000)) / 1024.0f;
        expected[i] = weights[i] * factor;
    }
    grade_describe_input(grade, "%d weight%s", count, count == 1 ? "" : "s");

    const float *const device_weights = grade_device_input(grade, "weights", weights, bytes);
    float *const scaled = grade_device_output(grade, "scaled", bytes);

    GRADE_LAUNCH_AND_CHECK(grade, scale_launch(device_weights, count, factor, scaled));
    grade_check_equal_floats(grade, "scaled", "weight", expected, scaled, (size_t)count);
}

static void three_blocks(struct grade_context *grade)
{
    check(grade, 300);
}

static void whole_blocks(struct grade_context *grade)
{
    check(grade, THREADS);
    check(grade, 5 * THREADS);
}

static void other_sizes(struct grade_context *grade)
{
    static const int counts[] = {1, 31, 127, 129, 1000, 40001};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        check(grade, counts[i]);
}

static void blocks(struct grade_context *grade)
{
    check(grade, 1000);
    grade_check_at_most(grade, "blocks", grade_last_launch_counter(grade, "blocks"), 8);
    check(grade, 8 * THREADS);
    grade_check_at_most(grade, "blocks", grade_last_launch_counter(grade, "blocks"), 8);
}

static void requests(struct grade_context *grade)
{
    enum { WARPS = 32, COUNT = WARPS * WARP_SIZE, SECTORS = 4 };
    static const char *const names[] = {"global_load_requests", "global_store_requests", "global_load_sectors",
                                        "global_store_sectors"};

    check(grade, COUNT);
    for (int i = 0; i < 4; i++)
        grade_check_at_most_per_unit(grade, names[i], grade_last_launch_counter(grade, names[i]), i < 2 ? 1 : SECTORS,
                                     WARPS, "warp");
    grade_check_at_least(grade, names[1], grade_last_launch_counter(grade, names[1]), WARPS,
                         "a thread has one element");
    grade_check_at_least(grade, names[0], grade_last_launch_counter(grade, names[0]), WARPS,
                         "a thread has one element");
}

const struct grade_case grade_cases[] = {
    {"three_blocks", three_blocks, false}, {"whole_blocks", whole_blocks, false},
    {"other_sizes", other_sizes, false},   {"blocks", blocks, true},
    {"requests", requests, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
