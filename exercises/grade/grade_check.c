/**
 * @file grade_check.c
 * @brief The graders' comparisons of elements with expected values, and of counters with a budget or a prediction.
 */
#include "grade.h"
#include "grade_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- elements ----------------------------------------------------------------------------------------------------- */

bool grade_is_unwritten(const void *element, size_t bytes)
{
    const unsigned char *const byte = element;

    for (size_t i = 0; i < bytes; i++)
        if (byte[i] != GRADE_POISON_BYTE)
            return false;
    return true;
}

void grade_check_equal_ints(struct grade_context *grade, const char *name, const char *index_name,
                            const int32_t *expected, const void *device, size_t num_elements)
{
    const int32_t *const got = grade_download(grade, device);

    for (size_t i = 0; i < num_elements; i++) {
        if (got[i] == expected[i])
            continue;
        if (grade_is_unwritten(&got[i], sizeof got[i]))
            grade_fail(grade, "%s %zu: %s: expected %" PRId32 ", but it was never written", index_name, i, name,
                       expected[i]);
        grade_fail(grade, "%s %zu: %s: expected %" PRId32 ", got %" PRId32, index_name, i, name, expected[i], got[i]);
    }
}

void grade_check_equal_floats(struct grade_context *grade, const char *name, const char *index_name,
                              const float *expected, const void *device, size_t num_elements)
{
    const float *const got = grade_download(grade, device);

    for (size_t i = 0; i < num_elements; i++) {
        const double want = (double)expected[i], have = (double)got[i];

        if (want == have || (isnan(want) && isnan(have)))
            continue;
        if (grade_is_unwritten(&got[i], sizeof got[i]))
            grade_fail(grade, "%s %zu: %s: expected %.9g, but it was never written", index_name, i, name, want);
        grade_fail(grade, "%s %zu: %s: expected %.9g, got %.9g", index_name, i, name, want, have);
    }
}

/* --- counters ----------------------------------------------------------------------------------------------------- */

bool grade_has_counters(const struct grade_context *grade)
{
    return grade->backend.has_counters;
}

/** Returns the value of the counter `name` in `counters`. */
static uint64_t find_counter(struct grade_context *grade, const struct counter *counters, const char *name)
{
    struct error error;

    for (int i = 0; i < grade->counters.num_counters; i++)
        if (strcmp(counters[i].name, name) == 0)
            return counters[i].value;
    error_set(&error, "the grader asks for a counter \"%s\", which is not there", name);
    grade_end_case_ungraded(grade, &error);
}

uint64_t grade_last_launch_counter(struct grade_context *grade, const char *name)
{
    if (strcmp(name, "global_atomic_requests") == 0)
        return grade->counters.global_atomic_requests;
    return grade_has_counters(grade) ? find_counter(grade, grade->counters.totals, name) : 0;
}

uint64_t grade_last_launch_kernel_counter(struct grade_context *grade, const char *kernel, const char *name)
{
    for (int i = 0; i < grade->counters.num_kernels; i++)
        if (strcmp(grade->counters.kernels[i].name, kernel) == 0)
            return find_counter(grade, grade->counters.kernels[i].counters, name);
    return 0; /* the kernel was not launched, or there are no counters */
}

void grade_report_measurement(struct grade_context *grade, const char *name, double value)
{
    struct grade_measurement *const figure = &grade->measurements[grade->num_measurements];

    if (!grade_has_counters(grade) || grade->num_measurements == GRADE_MAX_MEASUREMENTS)
        return;
    snprintf(figure->name, sizeof figure->name, "%s", name);
    figure->value = value;
    grade->num_measurements++;
}

/** Writes "; most at FILE:LINE (16 times)", the lines with the most requests that a counter counts, or "". */
static void describe_most(struct grade_context *grade, const char *name, char *text, size_t size)
{
    char places[400];

    backend_describe_lines_with_most_requests(&grade->counters, name, places, sizeof places);
    snprintf(text, size, "%s%s", *places ? "; most at " : "", places);
}

void grade_check_at_most(struct grade_context *grade, const char *name, uint64_t measured, uint64_t limit)
{
    char most[420];

    grade_report_measurement(grade, name, (double)measured);
    if (!grade_has_counters(grade) || measured <= limit)
        return;
    describe_most(grade, name, most, sizeof most);
    grade_fail(grade, "over budget: %s: %" PRIu64 ", at most %" PRIu64 " are allowed%s", name, measured, limit, most);
}

void grade_check_no_divergence(struct grade_context *grade)
{
    const uint64_t measured = grade_last_launch_counter(grade, "divergent_branches");
    char places[400];

    grade_report_measurement(grade, "divergent_branches", (double)measured);
    if (measured == 0)
        return;
    backend_describe_divergent_branches(&grade->counters, places, sizeof places);
    grade_fail(grade,
               "over budget: divergent_branches: %" PRIu64
               ", at most 0 are allowed; a warp diverges at %s" ERROR_ADVICE_SEPARATOR
               "conditions without branches: && and || branch, & and | do not; nor does ?: between two values that are "
               "there already",
               measured, places);
}

void grade_check_no_bank_conflicts(struct grade_context *grade)
{
    const uint64_t measured = grade_last_launch_counter(grade, "shared_conflicts");

    grade_report_measurement(grade, "shared_conflicts", (double)measured);
    if (measured > 0)
        grade_fail(grade,
                   "over budget: shared_conflicts: %" PRIu64 ", at most 0 are allowed; loads: %" PRIu64
                   " wavefronts for %" PRIu64 " requests; stores: %" PRIu64 " for %" PRIu64 ERROR_ADVICE_SEPARATOR
                   "the lanes of each load, and of each store, in different banks: word i is in bank i %% 32",
                   measured, grade_last_launch_counter(grade, "shared_load_wavefronts"),
                   grade_last_launch_counter(grade, "shared_load_requests"),
                   grade_last_launch_counter(grade, "shared_store_wavefronts"),
                   grade_last_launch_counter(grade, "shared_store_requests"));
}

void grade_check_at_most_per_unit(struct grade_context *grade, const char *name, uint64_t measured, uint64_t limit,
                                  int num_units, const char *unit_name)
{
    const double each = (double)measured / num_units;
    char figure[64], most[420];

    snprintf(figure, sizeof figure, "%s a %s", name, unit_name);
    grade_report_measurement(grade, figure, each);
    if (!grade_has_counters(grade) || measured <= limit * (uint64_t)num_units)
        return;
    describe_most(grade, name, most, sizeof most);
    grade_fail(grade, "over budget: %s: %" PRIu64 " by %d %ss, %g each; at most %" PRIu64 " each are allowed%s", name,
               measured, num_units, unit_name, each, limit, most);
}

void grade_check_at_least(struct grade_context *grade, const char *name, uint64_t measured, uint64_t least,
                          const char *why)
{
    if (grade_has_counters(grade) && measured < least)
        grade_fail(grade, "too few %s: %" PRIu64 ", at least %" PRIu64 ": %s", name, measured, least, why);
}

void grade_check_counter_is_zero(struct grade_context *grade, const char *name, const char *why)
{
    const uint64_t measured = grade_last_launch_counter(grade, name);

    if (measured > 0)
        grade_fail(grade, "no %s are needed here, and %" PRIu64 " were counted: %s", name, measured, why);
}

void grade_check_shuffles_only(struct grade_context *grade, int num_warps, int min_shuffles_per_warp,
                               int max_shuffles_per_warp)
{
    static const char *const others[] = {"votes", "shared_load_requests", "shared_store_requests", "atomic_requests"};
    const uint64_t shuffles = grade_last_launch_counter(grade, "shuffles");

    grade_check_at_most_per_unit(grade, "shuffles", shuffles, (uint64_t)max_shuffles_per_warp, num_warps, "warp");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        grade_check_counter_is_zero(grade, others[i], "lanes learn from each other by shuffles");
    grade_check_at_least(grade, "shuffles", shuffles, (uint64_t)(min_shuffles_per_warp * num_warps),
                         "how else do lanes learn from each other?");
    grade_check_at_most_per_unit(grade, "global_load_requests",
                                 grade_last_launch_counter(grade, "global_load_requests"), 1, num_warps, "warp");
}

void grade_check_prediction(struct grade_context *grade, const char *name, int64_t predicted, uint64_t measured)
{
    if (!grade_has_counters(grade))
        return;
    if (predicted < 0 || (uint64_t)predicted != measured)
        grade_fail(grade, "%s: you predicted %" PRId64 "; %s were measured", name, predicted,
                   predicted < 0 || (uint64_t)predicted < measured ? "more" : "fewer");
    grade_report_measurement(grade, name, (double)measured);
}
