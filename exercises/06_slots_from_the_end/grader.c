/**
 * @file grader.c
 * @brief 06_slots_from_the_end: checks that every position gets a slot of its expert, with one atomic request per warp.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <string.h>

enum { LANES = 32 };

/** Fails at the first slot whose position does not belong to the slot's expert or is already in an earlier slot. */
static void check_slots(struct grade_context *grade, const int32_t *ids, int numel, const int32_t *ends,
                        const int32_t *slots)
{
    unsigned char *const seen = grade_allocate_host(grade, (size_t)numel + 1);

    memset(seen, 0, (size_t)numel + 1);
    for (int slot = 0, expert = 0; slot < numel; slot++) {
        const int32_t position = slots[slot];

        while (ends[expert] <= slot)
            expert++;
        if (grade_is_unwritten(&slots[slot], sizeof *slots))
            grade_fail(grade, "slot %d: never written; expected a position of expert %d", slot, expert);
        if (position < 0 || position >= numel)
            grade_fail(grade, "slot %d: expected a position of expert %d, got %d, which is no position", slot, expert,
                       position);
        if (ids[position] != expert)
            grade_fail(grade, "slot %d: expected a position of expert %d, got %d, whose id is %d", slot, expert,
                       position, ids[position]);
        if (seen[position]++)
            grade_fail(grade, "slot %d: position %d is here for the second time", slot, position);
    }
}

static void check_ids(struct grade_context *grade, const int32_t *ids, int numel, int num_experts)
{
    int32_t *const ends = grade_allocate_host(grade, (size_t)num_experts * sizeof *ends);
    int end = 0;

    for (int e = 0; e < num_experts; e++) {
        for (int i = 0; i < numel; i++)
            end += ids[i] == e;
        ends[e] = end;
    }
    grade_describe_input(grade, "%d id%s of %d expert%s", numel, numel == 1 ? "" : "s", num_experts,
                         num_experts == 1 ? "" : "s");

    const int32_t *const topk_ids = grade_device_input(grade, "topk_ids", ids, (size_t)numel * sizeof *ids);
    const int32_t *const device_ends = grade_device_input(grade, "ends", ends, (size_t)num_experts * sizeof *ends);
    int32_t *const slots = grade_device_output(grade, "sorted_token_ids", (size_t)numel * sizeof *slots);

    GRADE_LAUNCH_AND_CHECK(grade, scatter_launch(topk_ids, numel, device_ends, num_experts, slots));
    check_slots(grade, ids, numel, ends, grade_download(grade, slots));
}

/** Launches the kernel on random ids from `first` to num_experts - 1 and checks every slot. */
static void check(struct grade_context *grade, int numel, int num_experts, int first)
{
    int32_t *const ids = grade_allocate_host(grade, (size_t)numel * sizeof *ids);

    for (int i = 0; i < numel; i++)
        ids[i] = first + (int32_t)random_below(grade_random(grade), (uint32_t)(num_experts - first));
    check_ids(grade, ids, numel, num_experts);
}

/** Runs chapter 06's example. */
static void thirteen_ids(struct grade_context *grade)
{
    static const int32_t ids[] = {3, 1, 0, 3, 0, 3, 2, 2, 2, 0, 2, 0, 2};

    check_ids(grade, ids, sizeof ids / sizeof *ids, 4);
}

static void many_ids(struct grade_context *grade)
{
    check(grade, 3000, 60, 0);
    check(grade, 2048, 256, 100);
}

static void one_expert(struct grade_context *grade)
{
    check(grade, 1000, 1, 0);
    check(grade, 1000, 256, 255);
}

static void few_ids(struct grade_context *grade)
{
    static const int numels[] = {0, 1, 31, 33, 255, 257};

    for (int i = 0; i < 6; i++)
        check(grade, numels[i], 40, 0);
}

static void many_experts(struct grade_context *grade)
{
    check(grade, 700, 4096, 0);
}

static void cost(struct grade_context *grade)
{
    enum { NUMEL = 4096, EXPERTS = 256, WARPS = NUMEL / LANES };

    check(grade, NUMEL, EXPERTS, 0);
    grade_check_counter_is_zero(grade, "global_atomic_requests", "the counters lie in shared memory");
    grade_check_counter_is_zero(grade, "shared_load_requests", "what a counter held before comes back from the atomic");
    grade_check_counter_is_zero(grade, "shuffles", "a slot comes from a counter");
    grade_check_counter_is_zero(grade, "votes", "a slot comes from a counter");
    grade_check_at_most_per_unit(grade, "atomic_requests", grade_last_launch_counter(grade, "atomic_requests"), 1,
                                 WARPS, "warp's request");
    grade_check_at_least(grade, "atomic_requests", grade_last_launch_counter(grade, "atomic_requests"), WARPS,
                         "a slot comes from a counter");
    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                        WARPS + EXPERTS / LANES);
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                        WARPS);
}

const struct grade_case grade_cases[] = {
    {"thirteen_ids", thirteen_ids, false}, {"many_ids", many_ids, false},         {"one_expert", one_expert, false},
    {"few_ids", few_ids, false},           {"many_experts", many_experts, false}, {"cost", cost, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
