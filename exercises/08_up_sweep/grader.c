/**
 * @file grader.c
 * @brief 08_up_sweep: checks that every word of the tree is correct, with the fewest barriers and requests.
 */
#include "exercise.h"
#include "../grade/grade.h"
#include "../grade/grade_scan.h"

enum { WARP_SIZE = 32 };

/** Gives all ids, up to 2^30 of them, to one expert. */
static void fill_one(struct random *random, int32_t *counts, int num_leaves)
{
    grade_fill_counts_zero(random, counts, num_leaves);
    counts[random_below(random, (uint32_t)num_leaves)] = 1 + (int)random_below(random, 1 << 30);
}

/** Returns the sum of the counts from `first` to `last`, inclusive. */
static int sum_of(const int *counts, int first, int last)
{
    int sum = 0;

    for (int i = first; i <= last; i++)
        sum += counts[i];
    return sum;
}

/**
 * Checks that `word` holds the sum of the 2^n counts up to and including counts[word], where 2^n is the largest power
 * of two that divides word + 1.
 */
static void check_word(struct grade_context *grade, const int *counts, int word, int got)
{
    const int leaves = (word + 1) & -(word + 1), first = word + 1 - leaves;
    const int expected = sum_of(counts, first, word);

    if (got == expected)
        return;
    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "word %d: expected %d, but it was never written", word, expected);
    if (leaves == 1)
        grade_fail(grade, "word %d: expected %d, its own count, got %d", word, expected, got);
    grade_fail(grade, "word %d: expected %d, the sum of counts %d to %d, got %d", word, expected, first, word, got);
}

static void check_counts(struct grade_context *grade, const int *counts, int num_leaves)
{
    const size_t bytes = (size_t)num_leaves * sizeof(int);
    const int *const device_counts = grade_device_input(grade, "counts", counts, bytes);
    int *const device_sums = grade_device_output(grade, "sums", bytes);

    GRADE_LAUNCH_AND_CHECK(grade, up_sweep_launch(device_counts, num_leaves, device_sums));

    const int *const sums = grade_download(grade, device_sums);

    for (int word = 0; word < num_leaves; word++)
        check_word(grade, counts, word, sums[word]);
}

static void check(struct grade_context *grade, int num_leaves, grade_fill_counts_function *fill)
{
    int *const counts = grade_allocate_host(grade, (size_t)num_leaves * sizeof *counts);

    for (int i = 0; i < num_leaves; i++)
        counts[i] = 0;
    fill(grade_random(grade), counts, num_leaves);
    grade_describe_input(grade, "%d count%s", num_leaves, num_leaves == 1 ? "" : "s");
    check_counts(grade, counts, num_leaves);
}

/** Runs the README's example. */
static void shown_counts(struct grade_context *grade)
{
    static const int counts[] = {3, 1, 7, 0, 4, 1, 6, 3};

    grade_describe_input(grade, "8 counts: 3 1 7 0 4 1 6 3");
    check_counts(grade, counts, 8);
}

static void one_warp(struct grade_context *grade)
{
    check(grade, 8, grade_fill_counts_random);
    check(grade, 32, grade_fill_counts_random);
}

static void every_size(struct grade_context *grade)
{
    for (int num_leaves = 1; num_leaves <= MAX_LEAVES; num_leaves *= 2)
        check(grade, num_leaves, grade_fill_counts_random);
}

static void other_counts(struct grade_context *grade)
{
    check(grade, 256, grade_fill_counts_equal);
    check(grade, 256, fill_one);
    check(grade, MAX_LEAVES, grade_fill_counts_equal);
    check(grade, MAX_LEAVES, fill_one);
}

/** Allows one barrier per step and one before the first step. */
static void barriers(struct grade_context *grade)
{
    uint64_t limit = 2;

    for (int num_leaves = 2; num_leaves <= MAX_LEAVES; num_leaves *= 2, limit++) {
        check(grade, num_leaves, grade_fill_counts_random);
        grade_check_at_most(grade, "block_barriers", grade_last_launch_counter(grade, "block_barriers"), limit);
    }
}

/** Allows one request per step for every warp that has a pair, and the requests that fill the tree. */
static void store_requests(struct grade_context *grade)
{
    for (int num_leaves = 2; num_leaves <= MAX_LEAVES; num_leaves *= 2) {
        uint64_t limit = (uint64_t)(num_leaves + WARP_SIZE - 1) / WARP_SIZE;

        for (int pairs = num_leaves / 2; pairs > 0; pairs /= 2)
            limit += (uint64_t)(pairs + WARP_SIZE - 1) / WARP_SIZE;
        check(grade, num_leaves, grade_fill_counts_random);
        grade_check_at_most(grade, "shared_store_requests", grade_last_launch_counter(grade, "shared_store_requests"),
                            limit);
    }
}

/**
 * Allows the loads that the tree needs: each pair is read once, the leaves are loaded from `counts`, and the words are
 * read before they are written to `sums`.
 */
static void load_requests(struct grade_context *grade)
{
    static const char why[] = "sums come up the tree in shared memory";

    for (int num_leaves = 2; num_leaves <= MAX_LEAVES; num_leaves *= 2) {
        const uint64_t requests = (uint64_t)(num_leaves + WARP_SIZE - 1) / WARP_SIZE;
        uint64_t limit = requests;

        for (int pairs = num_leaves / 2; pairs > 0; pairs /= 2)
            limit += 2 * ((uint64_t)(pairs + WARP_SIZE - 1) / WARP_SIZE);
        check(grade, num_leaves, grade_fill_counts_random);
        grade_check_at_most(grade, "shared_load_requests", grade_last_launch_counter(grade, "shared_load_requests"),
                            limit);
        grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                            requests);
        grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                            requests);
        grade_check_counter_is_zero(grade, "atomic_requests", why);
        grade_check_counter_is_zero(grade, "shuffles", why);
        grade_check_counter_is_zero(grade, "votes", why);
    }
}

const struct grade_case grade_cases[] = {
    {"shown_counts", shown_counts, false},  {"one_warp", one_warp, false}, {"every_size", every_size, false},
    {"other_counts", other_counts, false},  {"barriers", barriers, true},  {"store_requests", store_requests, true},
    {"load_requests", load_requests, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
