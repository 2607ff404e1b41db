/** @file grader.c  12_ring_all_reduce: checks that every rank gets all sums, with as few requests as possible. */
#include "exercise.h"
#include "../grade/grade.h"

/**
 * Writes which ranks' elements a wrong sum consists of, if they are the only ones that have this sum: ", the sum of
 * ranks 2 and 3 only". The elements are those of an array for each rank, `count` apart.
 */
static void describe_sum(const float *elements, int ranks, int count, float sum, char *text, size_t size)
{
    unsigned found = 0, num_found = 0;
    size_t length = 0;

    text[0] = '\0';
    for (unsigned set = 1; set < 1u << ranks; set++) {
        float of_set = 0.0f;

        for (int rank = 0; rank < ranks; rank++)
            of_set += set >> rank & 1 ? elements[rank * count] : 0.0f;
        found = of_set == sum ? set : found;
        num_found += of_set == sum;
    }
    if (num_found != 1)
        return;
    const char *const first = (found & (found - 1)) == 0 ? ", the element of rank " : ", the sum of ranks ";

    for (int rank = 0; rank < ranks; rank++)
        if (found >> rank & 1)
            length += (size_t)snprintf(text + length, size - length, "%s%d",
                                       length == 0           ? first
                                       : found >> (rank + 1) ? ", "
                                                             : " and ",
                                       rank);
    snprintf(text + length, size - length, " only");
}

/**
 * Launches the kernels on arrays of small integers, whose sums are exact, and checks every element of every rank.
 */
static void check(struct grade_context *grade, int ranks, int count)
{
    const size_t elements = (size_t)ranks * (size_t)count, bytes = elements * sizeof(float);
    float *const arrays = grade_allocate_host(grade, bytes), *const expected = grade_allocate_host(
                                                                 grade, (size_t)count * sizeof(float));
    const float *got;
    char contained[96];
    float *sums;

    grade_describe_input(grade, "%d rank%s, %d elements", ranks, ranks == 1 ? "" : "s", count);
    for (int i = 0; i < count; i++)
        expected[i] = 0.0f;
    for (size_t i = 0; i < elements; i++) {
        arrays[i] = (float)(1 + random_below(grade_random(grade), 1000));
        expected[i % (size_t)count] += arrays[i];
    }
    sums = grade_device_inout(grade, "sums", arrays, bytes);
    GRADE_LAUNCH_AND_CHECK(grade, all_reduce_launch(sums, ranks, count));
    got = grade_download(grade, sums);
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < count; i++) {
            const float sum = got[(size_t)rank * (size_t)count + (size_t)i];

            if (sum == expected[i])
                continue;
            describe_sum(arrays + i, ranks, count, sum, contained, sizeof contained);
            grade_fail(grade, "rank %d, element %d of chunk %d: expected %g, the sum of all ranks, got %g%s", rank,
                       i % (count / ranks), i / (count / ranks), (double)expected[i], (double)sum, contained);
        }
}

static void two_ranks(struct grade_context *grade)
{
    check(grade, 2, 2 * THREADS);
}

static void four_ranks(struct grade_context *grade)
{
    check(grade, 4, 4 * THREADS);
}

/** Runs rings of 1 to 8 ranks with chunks of one element and with chunks shorter and longer than a block. */
static void any_ring(struct grade_context *grade)
{
    check(grade, 1, 5);
    check(grade, 3, 3);
    check(grade, 5, 5 * 7);
    check(grade, 7, 7 * (THREADS + 1));
    check(grade, 8, 8 * (3 * THREADS + (int)random_below(grade_random(grade), THREADS)));
}

/** Allows coalesced requests for one chunk per step, in total 2 (ranks - 1) / ranks of an array per rank. */
static void as_few_bytes(struct grade_context *grade)
{
    enum { RANKS = 6, CHUNK_REQUESTS = 4, COUNT = RANKS * CHUNK_REQUESTS * 32 };

    check(grade, RANKS, COUNT);
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                        2 * (RANKS - 1) * RANKS * CHUNK_REQUESTS);
    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                        3 * (RANKS - 1) * RANKS * CHUNK_REQUESTS);
}

const struct grade_case grade_cases[] = {
    {"two_ranks", two_ranks, false},
    {"four_ranks", four_ranks, false},
    {"any_ring", any_ring, false},
    {"as_few_bytes", as_few_bytes, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
