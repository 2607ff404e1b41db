/**
 * @file grader.c
 * @brief 07_tail_of_the_fill: a pad at every place of a list that begins and ends anywhere, and nowhere else.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <inttypes.h>

/** Words of 4 bytes in 16. */
enum { PIECE = 4 };

/** Fails the case unless the first `offset` words are as they were and the rest holds the pad. */
static void check_words(struct grade *grade, const int32_t *words, int offset, int capacity, int32_t pad)
{
    const int32_t *const places = words + offset;

    for (int place = 0; place < capacity; place++) {
        if (places[place] == pad)
            continue;
        if (grade_is_unwritten(&places[place], sizeof places[place]))
            grade_fail(grade, "place %d of %d: expected the pad %" PRId32 ", but it was never written", place, capacity,
                       pad);
        grade_fail(grade, "place %d of %d: expected the pad %" PRId32 ", got %" PRId32, place, capacity, pad,
                   places[place]);
    }
    for (int word = offset - 1; word >= 0; word--)
        if (!grade_is_unwritten(&words[word], sizeof words[word]))
            grade_fail(grade, "a word in front of the list was written, %d bytes before its first place",
                       (offset - word) * (int)sizeof *words);
}

/** A list of `capacity` places, `offset` words past a multiple of 16 bytes. Behind its end is a guard band. */
static void check(struct grade *grade, int offset, int capacity, int32_t pad)
{
    int32_t *const words = grade_output(grade, "sorted_token_ids", (size_t)(offset + capacity) * sizeof *words);

    grade_given(grade, "%d place%s, %d bytes past a multiple of 16", capacity, capacity == 1 ? "" : "s",
                offset * (int)sizeof *words);
    grade_ran(grade, fill_launch(words + offset, capacity, pad));
    check_words(grade, grade_result(grade, words), offset, capacity, pad);
}

static int32_t any_pad(struct grade *grade)
{
    return (int32_t)random_below(grade_random(grade), 1 << 20);
}

/** The chapter's picture. */
static void twenty_places(struct grade *grade)
{
    check(grade, 2, 20, 13);
}

static void any_end(struct grade *grade)
{
    for (int capacity = 16; capacity < 16 + 2 * PIECE; capacity++)
        check(grade, 0, capacity, any_pad(grade));
}

static void any_beginning(struct grade *grade)
{
    for (int offset = 0; offset < PIECE; offset++)
        check(grade, offset, 40 + (int)random_below(grade_random(grade), 60), any_pad(grade));
}

/** No place, one, and up to where the first whole piece fits for sure. */
static void short_lists(struct grade *grade)
{
    for (int capacity = 0; capacity < 2 * PIECE; capacity++)
        check(grade, capacity % PIECE, capacity, any_pad(grade));
    for (int offset = 0; offset < PIECE; offset++)
        for (int capacity = 0; capacity < 3; capacity++)
            check(grade, offset, capacity, any_pad(grade));
}

/** More pieces than threads, and every way to begin with every way to end. */
static void long_lists(struct grade *grade)
{
    for (int i = 0; i < PIECE * PIECE; i++)
        check(grade, i % PIECE, 1100 + i / PIECE + PIECE * (int)random_below(grade_random(grade), 300), any_pad(grade));
}

/** Three words at each end. */
static void requests(struct grade *grade)
{
    enum { PIECES = 1000, WARP_SIZE = 32 };

    check(grade, 1, 3 + PIECES * PIECE + 3, any_pad(grade));
    grade_budget(grade, "global_store_requests", grade_counter(grade, "global_store_requests"),
                 (PIECES + WARP_SIZE - 1) / WARP_SIZE + 2);
}

const struct grade_case grade_cases[] = {
    {"twenty_places", twenty_places, false}, {"any_end", any_end, false},       {"any_beginning", any_beginning, false},
    {"short_lists", short_lists, false},     {"long_lists", long_lists, false}, {"requests", requests, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
