#include "grade_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WARP_SIZE = 32 };

void grade_fill_counts_random(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = (int32_t)random_below(random, 1000);
}

void grade_fill_counts_positive(struct random *random, int32_t *counts, int num_experts)
{
    for (int e = 0; e < num_experts; e++)
        counts[e] = 1 + (int32_t)random_below(random, 99);
}

void grade_fill_counts_equal(struct random *random, int32_t *counts, int num_experts)
{
    const int32_t count = 1 + (int32_t)random_below(random, 1000);

    for (int e = 0; e < num_experts; e++)
        counts[e] = count;
}

void grade_fill_counts_zero(struct random *random, int32_t *counts, int num_experts)
{
    (void)random;
    for (int e = 0; e < num_experts; e++)
        counts[e] = 0;
}

void grade_fill_counts_of_one_expert(struct random *random, int32_t *counts, int num_experts)
{
    grade_fill_counts_zero(random, counts, num_experts);
    counts[random_below(random, (uint32_t)num_experts)] = 1 + (int32_t)random_below(random, 999);
}

/** Fails the case with a message about the wrong offset. For the list's total, `expert` is num_experts. */
static _Noreturn void fail_offset(struct grade_context *grade, int list, int expert, int num_experts, int32_t expected,
                                  int32_t got)
{
    char which[96];

    if (expert == num_experts)
        snprintf(which, sizeof which, "list %d, the total behind its last expert", list);
    else if (num_experts <= WARP_SIZE)
        snprintf(which, sizeof which, "list %d, expert %d", list, expert);
    else
        snprintf(which, sizeof which, "list %d, expert %d (warp %d, lane %d)", list, expert, expert / WARP_SIZE,
                 expert % WARP_SIZE);
    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "%s: wrote nothing; expected offset %" PRId32, which, expected);
    grade_fail(grade, "%s: expected offset %" PRId32 ", got %" PRId32, which, expected, got);
}

static void check_list(struct grade_context *grade, int list, int num_experts, const int32_t *counts,
                       const int32_t *offsets)
{
    int32_t expected = 0;

    for (int e = 0; e <= num_experts; e++) {
        if (offsets[e] != expected)
            fail_offset(grade, list, e, num_experts, expected, offsets[e]);
        if (e < num_experts)
            expected += counts[e];
    }
}

/** Describes the lists for error messages; a single short list with its counts. */
static void describe_counts(struct grade_context *grade, int num_lists, int num_experts, const int32_t *counts)
{
    enum { MAX_SHOWN = 8 };
    char shown[MAX_SHOWN * 12 + 2] = "";

    for (int e = 0; num_lists == 1 && num_experts <= MAX_SHOWN && e < num_experts; e++) {
        const size_t length = strlen(shown);

        snprintf(shown + length, sizeof shown - length, "%s%" PRId32, e == 0 ? ": " : " ", counts[e]);
    }
    grade_describe_input(grade, "%d list%s of %d expert%s%s", num_lists, num_lists == 1 ? "" : "s", num_experts,
                         num_experts == 1 ? "" : "s", shown);
}

void grade_check_scan(struct grade_context *grade, grade_scan_launch_function *launch, int num_lists, int num_experts,
                      grade_fill_counts_function *fill)
{
    const size_t num_counts = (size_t)num_lists * num_experts, num_offsets = num_counts + (size_t)num_lists;
    int32_t *const counts = grade_allocate_host(grade, num_counts * sizeof *counts);

    for (int list = 0; list < num_lists; list++)
        fill(grade_random(grade), counts + (size_t)list * num_experts, num_experts);
    describe_counts(grade, num_lists, num_experts, counts);

    const int32_t *const device_counts = grade_device_input(grade, "counts", counts, num_counts * sizeof *counts);
    int32_t *const device_offsets = grade_device_output(grade, "offsets", num_offsets * sizeof *device_offsets);

    GRADE_LAUNCH_AND_CHECK(grade, launch(device_counts, num_lists, num_experts, device_offsets));

    const int32_t *const offsets = grade_download(grade, device_offsets);

    for (int list = 0; list < num_lists; list++)
        check_list(grade, list, num_experts, counts + (size_t)list * num_experts,
                   offsets + (size_t)list * (num_experts + 1));
}
