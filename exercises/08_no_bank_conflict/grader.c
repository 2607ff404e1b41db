/**
 * @file grader.c
 * @brief 08_no_bank_conflict: checks the sums, and that the scan has no bank conflicts and uses little shared memory.
 */
#include "exercise.h"
#include "../grade/grade.h"
#include "../grade/grade_scan.h"

/** Gives all 2^30 ids to one expert. */
static void fill_one(struct random *random, int32_t *counts, int num_leaves)
{
    const int expert = (int)random_below(random, (uint32_t)num_leaves);

    for (int i = 0; i < num_leaves; i++)
        counts[i] = i == expert ? 1 << 30 : 0;
}

static void check_counts(struct grade_context *grade, const int *counts, int num_leaves)
{
    const size_t bytes = (size_t)num_leaves * sizeof(int);
    const int *const device_counts = grade_device_input(grade, "counts", counts, bytes);
    int *const device_sums = grade_device_output(grade, "sums", bytes);
    int32_t *const expected = grade_allocate_host(grade, bytes);

    expected[0] = 0;
    for (int i = 1; i < num_leaves; i++)
        expected[i] = expected[i - 1] + counts[i - 1];
    GRADE_LAUNCH_AND_CHECK(grade, exclusive_scan_launch(device_counts, num_leaves, device_sums));
    grade_check_equal_ints(grade, "the sum of the counts before it", "count", expected, device_sums,
                           (size_t)num_leaves);
}

static void check(struct grade_context *grade, int num_leaves, grade_fill_counts_function *fill)
{
    int *const counts = grade_allocate_host(grade, (size_t)num_leaves * sizeof *counts);

    fill(grade_random(grade), counts, num_leaves);
    grade_describe_input(grade, "%d counts", num_leaves);
    check_counts(grade, counts, num_leaves);
}

/** Runs the chapter's example. */
static void shown_counts(struct grade_context *grade)
{
    static const int counts[] = {3, 1, 7, 0, 4, 1, 6, 3};

    grade_describe_input(grade, "8 counts: 3 1 7 0 4 1 6 3");
    check_counts(grade, counts, 8);
}

static void every_size(struct grade_context *grade)
{
    for (int num_leaves = 2; num_leaves <= MAX_LEAVES; num_leaves *= 2)
        check(grade, num_leaves, grade_fill_counts_random);
}

static void other_counts(struct grade_context *grade)
{
    check(grade, 256, grade_fill_counts_equal);
    check(grade, 256, fill_one);
    check(grade, MAX_LEAVES, grade_fill_counts_equal);
    check(grade, MAX_LEAVES, fill_one);
}

static void check_conflicts(struct grade_context *grade, int num_leaves)
{
    check(grade, num_leaves, grade_fill_counts_random);
    grade_check_no_bank_conflicts(grade);
}

static void conflicts(struct grade_context *grade)
{
    for (int num_leaves = 2; num_leaves <= 1024; num_leaves *= 2)
        check_conflicts(grade, num_leaves);
}

/** Runs the only size that has a step in which 32 lanes access numbers that are 64 apart. */
static void conflicts_of_2048(struct grade_context *grade)
{
    check_conflicts(grade, MAX_LEAVES);
}

static void room(struct grade_context *grade)
{
    for (int num_leaves = 2; num_leaves <= MAX_LEAVES; num_leaves *= 2) {
        int words = 0;

        GRADE_CALL_AND_FETCH_RESULT(grade, &words, tree_words(num_leaves));
        check(grade, num_leaves, grade_fill_counts_random);
        grade_check_at_most(grade, "tree_words", (uint64_t)words,
                            (uint64_t)(num_leaves + num_leaves / 32 + num_leaves / 1024));
    }
}

const struct grade_case grade_cases[] = {
    {"shown_counts", shown_counts, false},
    {"every_size", every_size, false},
    {"other_counts", other_counts, false},
    {"conflicts", conflicts, true},
    {"room", room, true},
    {"conflicts_of_2048", conflicts_of_2048, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
