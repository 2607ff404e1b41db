/** @file grader.c  10_predict_the_fill: checks the kernel, then each of the four numbers, then each formula. */
#include "exercise.h"
#include "../grade/grade.h"

#include <inttypes.h>

/** Makes random ids, some of which name no expert. */
static const int32_t *make_ids(struct grade_context *grade, int numel)
{
    int32_t *const ids = grade_allocate_host(grade, (size_t)(numel ? numel : 1) * sizeof *ids);

    ids[0] = -1;
    for (int i = 0; i < numel; i++)
        ids[i] = (int32_t)random_below(grade_random(grade), NUM_EXPERTS + 20) - 10;
    return ids;
}

static void check_counts(struct grade_context *grade, const int32_t *ids, int numel, const int32_t *device_counts)
{
    int32_t expected[NUM_EXPERTS] = {0};

    for (int i = 0; i < numel; i++)
        if (ids[i] >= 0 && ids[i] < NUM_EXPERTS)
            expected[ids[i]]++;
    grade_check_equal_ints(grade, "counts", "expert", expected, device_counts, NUM_EXPERTS);
}

/** Checks `words` [front + capacity + back], which must have pads in the middle and no stores before or after them. */
static void check_slots(struct grade_context *grade, const int32_t *words, int front, int capacity, int back,
                        int32_t pad)
{
    for (int i = 0; i < front + capacity + back; i++) {
        const int slot = i - front;
        const bool unwritten = grade_is_unwritten(&words[i], sizeof words[i]);

        if (slot < 0 && !unwritten)
            grade_fail(grade, "word %d in front of sorted_token_ids: the fill wrote there", -slot);
        if (slot >= capacity && !unwritten)
            grade_fail(grade, "word %d behind sorted_token_ids: the fill wrote there", slot - capacity + 1);
        if (slot < 0 || slot >= capacity || words[i] == pad)
            continue;
        if (unwritten)
            grade_fail(grade, "slot %d: expected the pad %" PRId32 ", but it was never written", slot, pad);
        grade_fail(grade, "slot %d: expected the pad %" PRId32 ", got %" PRId32, slot, pad, words[i]);
    }
}

/** Runs and checks the kernel with sorted_token_ids `front` words past a 32-byte boundary. Returns the bytes
 * written. */
static uint64_t check(struct grade_context *grade, int numel, int capacity, int front)
{
    enum { BACK = 8 };
    static const int32_t zeros[NUM_EXPERTS];
    const int32_t *const ids = make_ids(grade, numel);
    const size_t words = (size_t)front + (size_t)capacity + BACK;

    grade_describe_input(grade, "%d ids, %d slots%s", numel, capacity, front % 4 ? ", not 16-byte aligned" : "");

    const int32_t *const device_ids = grade_device_input(grade, "topk_ids", ids,
                                                         (size_t)(numel ? numel : 1) * sizeof *ids);
    int32_t *const counts = grade_device_inout(grade, "counts", zeros, sizeof zeros);
    int32_t *const slots = grade_device_output(grade, "sorted_token_ids", words * sizeof *slots);

    GRADE_LAUNCH_AND_CHECK(grade, count_and_fill_launch(device_ids, numel, capacity, counts, slots + front));
    check_slots(grade, grade_download(grade, slots), front, capacity, BACK, numel);
    check_counts(grade, ids, numel, counts);
    return (uint64_t)capacity * sizeof *slots;
}

/* --- the kernel --------------------------------------------------------------------------------------------------- */

static void require(struct grade_context *grade, const char *name, int64_t predicted, const char *region)
{
    if (predicted < 0)
        grade_fail(grade, "%s: nothing predicted yet; the region \"%s\" says %" PRId64, name, region, predicted);
}

static struct fill_counters_forecast ask_shown(struct grade_context *grade)
{
    struct fill_counters_forecast forecast;

    GRADE_CALL_AND_FETCH_RESULT(grade, &forecast, forecast_counters_of_shown_launch());
    return forecast;
}

static struct fill_counters_forecast ask(struct grade_context *grade, int64_t capacity)
{
    struct fill_counters_forecast forecast;

    GRADE_CALL_AND_FETCH_RESULT(grade, &forecast, forecast_counters_for_capacity(capacity));
    return forecast;
}

static void require_all(struct grade_context *grade, struct fill_counters_forecast forecast, const char *region)
{
    require(grade, "store_requests", forecast.store_requests, region);
    require(grade, "store_sectors", forecast.store_sectors, region);
    require(grade, "store_bytes", forecast.store_bytes, region);
    require(grade, "block_barriers", forecast.block_barriers, region);
}

/** Checks that all numbers have been predicted, before any is measured. */
static void forecast(struct grade_context *grade)
{
    require_all(grade, ask_shown(grade), "shown");
    require_all(grade, ask(grade, SHOWN_CAPACITY), "formulas");
}

static void shown(struct grade_context *grade)
{
    check(grade, SHOWN_NUMEL, SHOWN_CAPACITY, 0);
}

static void any_capacity(struct grade_context *grade)
{
    static const int capacities[] = {1, 3, 4, 5, 127, 128, 132, 16384, 16388};

    for (int i = 0; i < 9; i++)
        check(grade, 1 + (int)random_below(grade_random(grade), 200), capacities[i], 0);
    check(grade, 2000, 33000 + (int)random_below(grade_random(grade), 20000), 0);
}

static void any_alignment(struct grade_context *grade)
{
    static const int capacities[] = {2, 7, 1000};

    for (int front = 1; front < 4; front++)
        for (int i = 0; i < 3; i++)
            check(grade, 50, capacities[i], front);
}

static void nothing_to_fill(struct grade_context *grade)
{
    check(grade, 0, 0, 0);
    check(grade, 0, 64, 0);
}

/** Checks that requests are full and coalesced and that no sector is written twice. */
static void side_by_side(struct grade_context *grade)
{
    enum { CAPACITY = 40000, SLOTS_PER_REQUEST = 4 * WARP_SIZE, SLOTS_PER_SECTOR = 8 };

    check(grade, 1000, CAPACITY, 0);
    grade_check_at_most(grade, "global_store_sectors", grade_last_launch_counter(grade, "global_store_sectors"),
                        (CAPACITY + SLOTS_PER_SECTOR - 1) / SLOTS_PER_SECTOR);
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                        (CAPACITY + SLOTS_PER_REQUEST - 1) / SLOTS_PER_REQUEST);
}

/* --- the four numbers and the four formulas ----------------------------------------------------------------------- */

/** The four predicted numbers. */
enum number { REQUESTS, SECTORS, BYTES, BARRIERS };

static const char *const number_names[] = {"store_requests", "store_sectors", "store_bytes", "block_barriers"};

static int64_t number_of(struct fill_counters_forecast forecast, enum number number)
{
    const int64_t numbers[] = {forecast.store_requests, forecast.store_sectors, forecast.store_bytes,
                               forecast.block_barriers};

    return numbers[number];
}

/** Runs the kernel and returns the measured number. */
static uint64_t measure(struct grade_context *grade, enum number number, int numel, int capacity)
{
    const uint64_t bytes = check(grade, numel, capacity, 0);

    switch (number) {
    case REQUESTS:
        return grade_last_launch_counter(grade, "global_store_requests");
    case SECTORS:
        return grade_last_launch_counter(grade, "global_store_sectors");
    case BYTES:
        return bytes;
    default:
        return grade_last_launch_counter(grade, "block_barriers");
    }
}

/** Scores the forecast of one number for the shown launch; asks for the forecast before the launch. */
static void score_shown(struct grade_context *grade, enum number number)
{
    const int64_t predicted = number_of(ask_shown(grade), number);

    grade_check_prediction(grade, number_names[number], predicted, measure(grade, number, SHOWN_NUMEL, SHOWN_CAPACITY));
}

static void score_capacity(struct grade_context *grade, enum number number, int capacity)
{
    const int64_t predicted = number_of(ask(grade, capacity), number);

    grade_check_prediction(grade, number_names[number], predicted, measure(grade, number, capacity / 10, capacity));
}

/** Scores forecasts for seven capacities, most with a partly filled last request or sector, and for two random ones. */
static void score_formula(struct grade_context *grade, enum number number)
{
    static const int capacities[] = {4, 12, 128, 140, 16384, 16388, 49156};

    for (int i = 0; i < 7; i++)
        score_capacity(grade, number, capacities[i]);
    for (int i = 0; i < 2; i++)
        score_capacity(grade, number, 4 * (1 + (int)random_below(grade_random(grade), 12000)));
}

static void shown_requests(struct grade_context *grade)
{
    score_shown(grade, REQUESTS);
}

static void shown_sectors(struct grade_context *grade)
{
    score_shown(grade, SECTORS);
}

static void shown_bytes(struct grade_context *grade)
{
    score_shown(grade, BYTES);
}

static void shown_barriers(struct grade_context *grade)
{
    score_shown(grade, BARRIERS);
}

static void formula_requests(struct grade_context *grade)
{
    score_formula(grade, REQUESTS);
}

static void formula_sectors(struct grade_context *grade)
{
    score_formula(grade, SECTORS);
}

static void formula_bytes(struct grade_context *grade)
{
    score_formula(grade, BYTES);
}

static void formula_barriers(struct grade_context *grade)
{
    score_formula(grade, BARRIERS);
}

const struct grade_case grade_cases[] = {
    {"forecast", forecast, false},
    {"shown", shown, false},
    {"any_capacity", any_capacity, false},
    {"any_alignment", any_alignment, false},
    {"nothing_to_fill", nothing_to_fill, false},
    {"side_by_side", side_by_side, true},
    {"shown_requests", shown_requests, true},
    {"shown_sectors", shown_sectors, true},
    {"shown_bytes", shown_bytes, true},
    {"shown_barriers", shown_barriers, true},
    {"formula_requests", formula_requests, true},
    {"formula_sectors", formula_sectors, true},
    {"formula_bytes", formula_bytes, true},
    {"formula_barriers", formula_barriers, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
