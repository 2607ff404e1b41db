/** @file grader.c  14b_old_words_and_new: checks the sums of many launches that share one workspace. */
#include "exercise.h"
#include "../grade/grade.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LAUNCHES = 20 };

/** Launches num_launches times, with num_blocks[launch] blocks each, and checks every block's sum. */
static void check(struct grade_context *grade, const int *num_blocks, int num_launches)
{
    const size_t elements = (size_t)num_launches * MAX_BLOCKS;
    int32_t *const numbers = grade_allocate_host(grade, elements * sizeof *numbers);
    uint32_t *const zeros = grade_allocate_host(grade, WORKSPACE_WORDS * sizeof *zeros);
    char list[128] = "";

    memset(zeros, 0, WORKSPACE_WORDS * sizeof *zeros);
    for (size_t i = 0; i < elements; i++)
        numbers[i] = (int32_t)random_below(grade_random(grade), 1000);
    for (int i = 0; i < num_launches; i++) {
        const size_t used = strlen(list);

        snprintf(list + used, sizeof list - used, "%s%d", i > 0 ? ", " : "", num_blocks[i]);
    }
    grade_describe_input(grade, "launches of %s blocks", list);

    const int32_t *const device_numbers = grade_device_input(grade, "numbers", numbers, elements * sizeof *numbers);
    uint32_t *const workspace = grade_device_output(grade, "workspace", WORKSPACE_WORDS * sizeof *workspace);
    int32_t *const sums = grade_device_output(grade, "sums", elements * sizeof *sums);

    cudaMemcpy(workspace, zeros, WORKSPACE_WORDS * sizeof *zeros, cudaMemcpyHostToDevice);
    GRADE_LAUNCH_AND_CHECK(grade, sum_over_blocks_launch(device_numbers, num_blocks, num_launches, workspace, sums));

    const int32_t *const got = grade_download(grade, sums);

    for (int i = 0; i < num_launches; i++) {
        int32_t expected = 0;

        for (int block = 0; block < num_blocks[i]; block++)
            expected += numbers[i * MAX_BLOCKS + block];
        for (int block = 0; block < num_blocks[i]; block++)
            if (got[i * MAX_BLOCKS + block] != expected)
                grade_fail(grade, "launch %d, block %d: sums: expected %d, got %d%s", i, block, expected,
                           got[i * MAX_BLOCKS + block],
                           got[i * MAX_BLOCKS + block] == -1 ? ": the block gave up waiting for another's word" : "");
    }
}

static void one_launch(struct grade_context *grade)
{
    check(grade, (const int[]){5}, 1);
}

static void two_launches(struct grade_context *grade)
{
    check(grade, (const int[]){4, 4}, 2);
}

static void four_launches(struct grade_context *grade)
{
    check(grade, (const int[]){4, 4, 4, 4}, 4);
}

/** Checks that a large launch's words are cleared even if a small launch precedes the next large one. */
static void sizes_change(struct grade_context *grade)
{
    check(grade, (const int[]){12, 1, 12, 12, 3, 7, 12, 2, 9}, 9);
}

static void twenty_launches(struct grade_context *grade)
{
    int num_blocks[MAX_LAUNCHES];

    for (int i = 0; i < MAX_LAUNCHES; i++)
        num_blocks[i] = 1 + (int)random_below(grade_random(grade), MAX_BLOCKS);
    check(grade, num_blocks, MAX_LAUNCHES);
}

static void few_atomics(struct grade_context *grade)
{
    check(grade, (const int[]){8, 8}, 2);
    grade_check_at_most_per_unit(grade, "atomic_requests", grade_last_launch_counter(grade, "atomic_requests"), 2,
                                 2 * 8, "block");
}

const struct grade_case grade_cases[] = {
    {"one_launch", one_launch, false},           {"two_launches", two_launches, false},
    {"four_launches", four_launches, false},     {"sizes_change", sizes_change, false},
    {"twenty_launches", twenty_launches, false}, {"few_atomics", few_atomics, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
