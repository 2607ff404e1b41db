/** @file grader.c  07_four_sectors: checks that only the list is filled, with few requests and sectors. */
#include "exercise.h"
#include "../grade/grade.h"

#include <string.h>

enum { SECTOR_WORDS = SECTOR_BYTES / 4, LANE_WORDS = 4, REQUEST_WORDS = 32 * LANE_WORDS };

/** Device memory in which lists are filled one after another, and its expected contents. */
struct memory {
    int32_t *device; /**< begins at a sector boundary */
    int32_t *model;
    int words;
};

static struct memory memory_make(struct grade_context *grade, int words)
{
    const size_t bytes = (size_t)words * sizeof(int32_t);
    struct memory memory = {grade_device_output(grade, "sorted_token_ids", bytes), grade_allocate_host(grade, bytes),
                            words};

    memset(memory.model, GRADE_POISON_BYTE, bytes);
    return memory;
}

/** Fails if a word of the memory has the wrong value; words in the list, [begin, begin + capacity), must be pads. */
static void check_word(struct grade_context *grade, const struct memory *memory, int word, int begin, int capacity,
                       int pad, int32_t got)
{
    const bool is_pad = word >= begin && word < begin + capacity;

    if (is_pad && got == memory->model[word] && got != pad)
        grade_fail(grade, "slot %d: expected the pad %d, but it was never written", word - begin, pad);
    if (is_pad && got != pad)
        grade_fail(grade, "slot %d: expected the pad %d, got %d", word - begin, pad, got);
    if (!is_pad && got != memory->model[word] && word < begin)
        grade_fail(grade, "the word %d before the list's first slot was written: %d", begin - word, got);
    if (!is_pad && got != memory->model[word])
        grade_fail(grade, "the word %d past the list's last slot was written: %d", word - (begin + capacity) + 1, got);
}

/** Fills the list of `capacity` slots that begins at word `begin`, and checks every word of the memory. */
static void fill(struct grade_context *grade, const struct memory *memory, int begin, int capacity)
{
    const int pad = (int)random_below(grade_random(grade), 1 << 20);

    grade_describe_input(grade, "%d slot%s from byte %d of a sector", capacity, capacity == 1 ? "" : "s",
                         begin % SECTOR_WORDS * 4);
    GRADE_LAUNCH_AND_CHECK(grade, fill_launch(memory->device + begin, capacity, pad));

    const int32_t *const got = grade_download(grade, memory->device);

    for (int word = 0; word < memory->words; word++)
        check_word(grade, memory, word, begin, capacity, pad, got[word]);
    for (int word = begin; word < begin + capacity; word++)
        memory->model[word] = pad;
}

/** Fills a list that ends at the end of its memory. */
static void fill_alone(struct grade_context *grade, int begin, int capacity)
{
    const struct memory memory = memory_make(grade, begin + capacity);

    fill(grade, &memory, begin, capacity);
}

/* --- correctness -------------------------------------------------------------------------------------------------- */

/** Fills the README's list and a list that consists of whole 16-byte chunks. */
static void shown_list(struct grade_context *grade)
{
    const struct memory memory = memory_make(grade, 5 * SECTOR_WORDS);

    fill(grade, &memory, SECTOR_WORDS + 2, 20);
    fill_alone(grade, 0, 4096);
}

/** Fills random lists, the longest of which have more chunks than the block has threads. */
static void random_lists(struct grade_context *grade)
{
    const struct memory memory = memory_make(grade, 3000);

    for (int i = 0; i < 20; i++) {
        const int begin = (int)random_below(grade_random(grade), 1000);

        fill(grade, &memory, begin, (int)random_below(grade_random(grade), 2000));
    }
}

/** Fills lists of up to four sectors, beginning at each word of a sector. */
static void short_lists(struct grade_context *grade)
{
    enum { MOST = 4 * SECTOR_WORDS };
    const struct memory memory = memory_make(grade, SECTOR_WORDS + SECTOR_WORDS + MOST + SECTOR_WORDS);

    for (int begin = 0; begin < SECTOR_WORDS; begin++)
        for (int capacity = 0; capacity <= MOST; capacity += capacity < 2 * SECTOR_WORDS ? 1 : 3)
            fill(grade, &memory, SECTOR_WORDS + begin, capacity);
}

/** Fills lists at the end of the memory: a store past the end is a fault. */
static void lists_at_the_end(struct grade_context *grade)
{
    static const int begins[] = {0, 1, 2, 4, 7};
    static const int lengths[] = {0, 1, 6, 18, 131};

    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++)
            fill_alone(grade, begins[i], lengths[k]);
}

/* --- the budget --------------------------------------------------------------------------------------------------- */

static int sectors_of(int begin, int capacity)
{
    return capacity == 0 ? 0 : (begin + capacity - 1) / SECTOR_WORDS - begin / SECTOR_WORDS + 1;
}

/** Checks that at most one sector is written twice, and that no store escapes the counters. */
static void sectors(struct grade_context *grade, int begin, int capacity)
{
    const int least = sectors_of(begin, capacity);

    fill_alone(grade, begin, capacity);

    const uint64_t stored = grade_last_launch_counter(grade, "global_store_sectors");

    if (stored < (uint64_t)least)
        grade_fail(grade, "%d of the list's %d sectors were stored to by plain stores; nothing else counts",
                   (int)stored, least);
    grade_check_at_most(grade, "global_store_sectors", stored, (uint64_t)least + 1);
}

static void requests(struct grade_context *grade, int begin, int capacity)
{
    fill_alone(grade, begin, capacity);
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                        (uint64_t)(capacity + REQUEST_WORDS - 1) / REQUEST_WORDS + 2);
}

static void aligned_sectors(struct grade_context *grade)
{
    sectors(grade, 0, 4096);
    sectors(grade, 0, 1000);
}

static void aligned_requests(struct grade_context *grade)
{
    requests(grade, 0, 4096);
    requests(grade, 0, 1000);
    requests(grade, 0, 127);
}

static void any_sectors(struct grade_context *grade)
{
    for (int begin = 0; begin < SECTOR_WORDS; begin++) {
        sectors(grade, begin, 2000 + (int)random_below(grade_random(grade), 1000));
        sectors(grade, begin, 1 + (int)random_below(grade_random(grade), 300));
    }
}

static void any_requests(struct grade_context *grade)
{
    for (int begin = 0; begin < SECTOR_WORDS; begin++) {
        requests(grade, begin, 2000 + (int)random_below(grade_random(grade), 1000));
        requests(grade, begin, 1 + (int)random_below(grade_random(grade), 300));
    }
}

const struct grade_case grade_cases[] = {
    {"shown_list", shown_list, false},          {"random_lists", random_lists, false},
    {"short_lists", short_lists, false},        {"lists_at_the_end", lists_at_the_end, false},
    {"aligned_sectors", aligned_sectors, true}, {"aligned_requests", aligned_requests, true},
    {"any_sectors", any_sectors, true},         {"any_requests", any_requests, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
