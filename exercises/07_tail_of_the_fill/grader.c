/**
 * @file grader.c
 * @brief 07_tail_of_the_fill: checks that every slot and no other word gets a pad, wherever the list begins and ends.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <inttypes.h>

/** Number of 4-byte words in a chunk of 16 bytes. */
enum { PIECE = 4 };

/** Fails the case unless the first `offset` words are unchanged and all other words hold the pad. */
static void check_words(struct grade_context *grade, const int32_t *words, int offset, int capacity, int32_t pad)
{
    const int32_t *const slots = words + offset;

    for (int slot = 0; slot < capacity; slot++) {
        if (slots[slot] == pad)
            continue;
        if (grade_is_unwritten(&slots[slot], sizeof slots[slot]))
            grade_fail(grade, "slot %d of %d: expected the pad %" PRId32 ", but it was never written", slot, capacity,
                       pad);
        grade_fail(grade, "slot %d of %d: expected the pad %" PRId32 ", got %" PRId32, slot, capacity, pad,
                   slots[slot]);
    }
    for (int word = offset - 1; word >= 0; word--)
        if (!grade_is_unwritten(&words[word], sizeof words[word]))
            grade_fail(grade, "a word in front of the list was written, %d bytes before its first slot",
                       (offset - word) * (int)sizeof *words);
}

/**
 * Fills a list of `capacity` slots that begins `offset` words past a multiple of 16 bytes; a guard band follows the
 * list.
 */
static void check(struct grade_context *grade, int offset, int capacity, int32_t pad)
{
    int32_t *const words = grade_device_output(grade, "sorted_token_ids", (size_t)(offset + capacity) * sizeof *words);

    grade_describe_input(grade, "%d slot%s, %d bytes past a multiple of 16", capacity, capacity == 1 ? "" : "s",
                         offset * (int)sizeof *words);
    GRADE_LAUNCH_AND_CHECK(grade, fill_launch(words + offset, capacity, pad));
    check_words(grade, grade_download(grade, words), offset, capacity, pad);
}

static int32_t any_pad(struct grade_context *grade)
{
    return (int32_t)random_below(grade_random(grade), 1 << 20);
}

/** Fills the list that the chapter's figure shows. */
static void twenty_slots(struct grade_context *grade)
{
    check(grade, 2, 20, 13);
}

static void any_end(struct grade_context *grade)
{
    for (int capacity = 16; capacity < 16 + 2 * PIECE; capacity++)
        check(grade, 0, capacity, any_pad(grade));
}

static void any_beginning(struct grade_context *grade)
{
    for (int offset = 0; offset < PIECE; offset++)
        check(grade, offset, 40 + (int)random_below(grade_random(grade), 60), any_pad(grade));
}

/** Fills lists of 0 to 7 slots; 7 slots contain a whole chunk wherever the list begins. */
static void short_lists(struct grade_context *grade)
{
    for (int capacity = 0; capacity < 2 * PIECE; capacity++)
        check(grade, capacity % PIECE, capacity, any_pad(grade));
    for (int offset = 0; offset < PIECE; offset++)
        for (int capacity = 0; capacity < 3; capacity++)
            check(grade, offset, capacity, any_pad(grade));
}

/** Fills lists with more chunks than threads, for every combination of alignments of the start and the end. */
static void long_lists(struct grade_context *grade)
{
    for (int i = 0; i < PIECE * PIECE; i++)
        check(grade, i % PIECE, 1100 + i / PIECE + PIECE * (int)random_below(grade_random(grade), 300), any_pad(grade));
}

/** Allows one request for every 32 chunks, and one for the words (at most three) at each end. */
static void requests(struct grade_context *grade)
{
    enum { PIECES = 1000, WARP_SIZE = 32 };

    check(grade, 1, 3 + PIECES * PIECE + 3, any_pad(grade));
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                        (PIECES + WARP_SIZE - 1) / WARP_SIZE + 2);
}

const struct grade_case grade_cases[] = {
    {"twenty_slots", twenty_slots, false}, {"any_end", any_end, false},       {"any_beginning", any_beginning, false},
    {"short_lists", short_lists, false},   {"long_lists", long_lists, false}, {"requests", requests, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
