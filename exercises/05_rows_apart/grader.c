/**
 * @file grader.c
 * @brief 05_rows_apart: checks that every choice reaches topk_ids, without bank conflicts and with little shared
 * memory.
 */
#include "exercise.h"
#include "../grade/grade.h"

static void check(struct grade_context *grade, int num_tokens, int topk)
{
    const size_t count = (size_t)num_tokens * (size_t)topk, bytes = count * sizeof(int32_t);
    int32_t *const choices = grade_allocate_host(grade, bytes);

    for (size_t i = 0; i < count; i++)
        choices[i] = (int32_t)random_below(grade_random(grade), 256);
    grade_describe_input(grade, "%d token%s, %d choice%s", num_tokens, num_tokens == 1 ? "" : "s", topk,
                         topk == 1 ? "" : "s");

    const int32_t *const device_choices = grade_device_input(grade, "choices", choices, bytes);
    int32_t *const topk_ids = grade_device_output(grade, "topk_ids", bytes);

    GRADE_LAUNCH_AND_CHECK(grade, copy_choices_launch(device_choices, num_tokens, topk, topk_ids));
    grade_check_equal_ints(grade, "topk_ids", "choice", choices, topk_ids, count);
}

static void eight_choices(struct grade_context *grade)
{
    check(grade, 8, 8);
}

static void every_topk(struct grade_context *grade)
{
    for (int topk = 2; topk <= MAX_TOPK; topk += 3)
        check(grade, 11, topk);
    check(grade, 11, 1);
}

static void few_tokens(struct grade_context *grade)
{
    for (int tokens = 1; tokens <= 9; tokens++)
        check(grade, tokens, 6);
}

static void conflicts(struct grade_context *grade)
{
    static const int topks[] = {8, 1, 6, 7, 12, 24, 31, 32};

    for (size_t i = 0; i < sizeof topks / sizeof *topks; i++) {
        check(grade, 8, topks[i]);
        grade_check_no_bank_conflicts(grade);
        grade_check_at_least(grade, "shared_store_requests", grade_last_launch_counter(grade, "shared_store_requests"),
                             (uint64_t)(WARPS * topks[i]), "a round writes a choice of each token");
    }
}

static void room(struct grade_context *grade)
{
    int words = 0;

    GRADE_CALL_AND_FETCH_RESULT(grade, &words, num_words_of_warp_rows());
    grade_check_at_most(grade, "num_words_of_warp_rows", (uint64_t)words, TOKENS_PER_WARP * (MAX_TOPK + GROUPS));
}

const struct grade_case grade_cases[] = {
    {"eight_choices", eight_choices, false},
    {"every_topk", every_topk, false},
    {"few_tokens", few_tokens, false},
    {"conflicts", conflicts, true},
    {"room", room, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
