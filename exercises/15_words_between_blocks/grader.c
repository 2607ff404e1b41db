/** @file grader.c  15_words_between_blocks: checks all totals and ranks, and that no block waits forever. */
#include "exercise.h"
#include "../grade/grade.h"

#include <string.h>

/** Launches one block for each id, and checks every block's results. */
static void check_ids(struct grade_context *grade, const int32_t *ids, int num_blocks, int absent)
{
    int32_t expected_totals[MAX_BLOCKS], expected_ranks[MAX_BLOCKS];
    uint32_t *const zeros = grade_allocate_host(grade, (size_t)num_blocks * sizeof *zeros);

    memset(zeros, 0, (size_t)num_blocks * sizeof *zeros);
    for (int own = 0; own < num_blocks; own++) {
        expected_totals[own] = expected_ranks[own] = absent == NO_BLOCK_ABSENT ? 0 : -1;
        for (int other = 0; absent == NO_BLOCK_ABSENT && other < num_blocks; other++) {
            expected_totals[own] += ids[other] == ids[own];
            expected_ranks[own] += other < own && ids[other] == ids[own];
        }
    }
    if (absent == NO_BLOCK_ABSENT)
        grade_describe_input(grade, "%d block%s", num_blocks, num_blocks == 1 ? "" : "s");
    else
        grade_describe_input(grade, "%d blocks, of which number %d is absent", num_blocks, absent);

    const int32_t *const device_ids = grade_device_input(grade, "ids", ids, (size_t)num_blocks * sizeof *ids);
    uint32_t *const words = grade_device_output(grade, "words", (size_t)num_blocks * sizeof *words);
    int32_t *const totals = grade_device_output(grade, "totals", (size_t)num_blocks * sizeof *totals);
    int32_t *const ranks = grade_device_output(grade, "ranks", (size_t)num_blocks * sizeof *ranks);

    cudaMemcpy(words, zeros, (size_t)num_blocks * sizeof *zeros, cudaMemcpyHostToDevice);
    GRADE_LAUNCH_AND_CHECK(grade, count_equal_ids_launch(device_ids, num_blocks, absent, words, totals, ranks));
    if (absent != NO_BLOCK_ABSENT) { /* the absent block writes nothing */
        const int32_t *const got = grade_download(grade, totals);

        for (int own = 0; own < num_blocks; own++)
            if (own != absent && got[own] != -1)
                grade_fail(grade, "block %d: totals: expected -1, got %d", own, got[own]);
        return;
    }
    grade_check_equal_ints(grade, "totals", "block", expected_totals, totals, num_blocks);
    grade_check_equal_ints(grade, "ranks", "block", expected_ranks, ranks, num_blocks);
}

static void check(struct grade_context *grade, int num_blocks, int num_ids, int absent)
{
    int32_t *const ids = grade_allocate_host(grade, (size_t)num_blocks * sizeof *ids);

    for (int i = 0; i < num_blocks; i++)
        ids[i] = (int32_t)random_below(grade_random(grade), (uint32_t)num_ids);
    check_ids(grade, ids, num_blocks, absent);
}

static void four_blocks(struct grade_context *grade)
{
    static const int32_t ids[] = {3, 1, 3, 3};

    check_ids(grade, ids, 4, NO_BLOCK_ABSENT);
}

static void id_zero(struct grade_context *grade)
{
    static const int32_t ids[] = {0, 2, 0, 1, 0};

    check_ids(grade, ids, 5, NO_BLOCK_ABSENT);
}

static void any_number_of_blocks(struct grade_context *grade)
{
    static const int counts[] = {1, 2, 7, 8, 11, MAX_BLOCKS};

    for (int i = 0; i < 6; i++)
        check(grade, counts[i], 6, NO_BLOCK_ABSENT);
}

static void a_block_is_absent(struct grade_context *grade)
{
    check(grade, 5, 3, 4);
    check(grade, 9, 3, 0);
}

static void one_atomic(struct grade_context *grade)
{
    check(grade, 8, 5, NO_BLOCK_ABSENT);
    grade_check_at_most_per_unit(grade, "atomic_requests", grade_last_launch_counter(grade, "atomic_requests"), 1, 8,
                                 "block");
}

const struct grade_case grade_cases[] = {
    {"four_blocks", four_blocks, false},
    {"id_zero", id_zero, false},
    {"any_number_of_blocks", any_number_of_blocks, false},
    {"a_block_is_absent", a_block_is_absent, false},
    {"one_atomic", one_atomic, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
