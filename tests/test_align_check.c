/** @file test_align_check.c  Tests align's reference and its checker, on correct and on modified answers. */
#include "harness/align/check.h"
#include "harness/align/input.h"
#include "harness/align/problem.h"
#include "harness/align/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- cases --- */

/** A problem, its input and an answer that a test may modify. */
struct bench {
    struct align_problem problem;
    struct tensors tensors;
    struct align_buffers buffers; /* the tensors on the host */
};

static struct align_problem problem_of(int64_t numel, int num_experts, int block_size)
{
    struct align_problem problem = {.numel = numel, .num_experts = num_experts, .block_size = block_size};

    problem.capacity = align_worst_case_capacity(&problem);
    return problem;
}

static void allocate(struct align_problem problem, bool has_map, struct bench *bench)
{
    struct error error = {0};

    bench->problem = problem;
    if (!align_problem_check(&problem, &error) ||
        !align_tensors_allocate_host(&problem, NULL, has_map, 0, &bench->tensors, &error))
        fail_msg("%s", error.text);
    bench->buffers = align_buffers_at(&bench->tensors, TENSOR_ON_HOST);
}

static void *ids_of(const struct bench *bench)
{
    return bench->tensors.tensor[ALIGN_TENSOR_TOPK_IDS].host.data;
}

static int32_t *map_of(const struct bench *bench)
{
    return bench->tensors.tensor[ALIGN_TENSOR_EXPERT_MAP].host.data;
}

/** Fills the outputs with the reference's answer. */
static void answer(struct bench *bench)
{
    struct error error = {0};

    tensors_poison_outputs_on_host(&bench->tensors);
    if (!align_reference_compute(&bench->problem, &bench->buffers, &error))
        fail_msg("%s", error.text);
}

static struct bench set_up_ids(struct align_problem problem, const int64_t *ids, const int32_t *expert_map)
{
    struct bench bench;

    allocate(problem, expert_map != NULL, &bench);
    align_repeat_ids_from_array(&problem, &(struct npy_array){DTYPE_I64, 1, {problem.numel}, (void *)ids},
                                ids_of(&bench));
    if (expert_map)
        memcpy(map_of(&bench), expert_map, (size_t)problem.num_experts * sizeof *expert_map);
    answer(&bench);
    return bench;
}

static void tear_down(struct bench *bench)
{
    tensors_free(&bench->tensors);
}

/**
 * Ids of six tokens with two ids each, for four experts and blocks of three; 18 of 21 slots are used. The correct
 * answer:
 *
 *     sorted_token_ids   0  2  5 |  9 12 12 |  1  4  7 | 10 12 12 |  6 12 12 |  3  8 11 | 12 12 12
 *     expert_ids         0       |  0       |  1       |  1       |  2       |  3       | -1
 */
static const int64_t worked_ids[12] = {0, 1, 0, 3, 1, 0, 2, 1, 3, 0, 1, 3};

static struct bench worked_case(void)
{
    return set_up_ids(problem_of(12, 4, 3), worked_ids, NULL);
}

/** Returns the worked case with -1 instead of the only id of expert 2, so that 15 slots are used. */
static struct bench skipped_case(void)
{
    struct bench bench = worked_case();

    ((int32_t *)ids_of(&bench))[6] = -1;
    answer(&bench);
    return bench;
}

/* --- the checker's verdicts --------------------------------------------------------------------------------------- */

static enum run_exit_code verdict_of(const struct bench *bench, bool ascending, struct error *error)
{
    bool right;

    *error = (struct error){0};
    right = align_check(&bench->problem, &bench->buffers, ascending, error);
    assert_int_equal(right, error->exit_code == RUN_VERIFIED);
    return error->exit_code;
}

static void assert_right(const struct bench *bench, bool ascending)
{
    struct error error;
    char problem[200];

    if (verdict_of(bench, ascending, &error) == RUN_VERIFIED)
        return;
    align_problem_describe(&bench->problem, problem, sizeof problem);
    fail_msg("a right answer was refused: %s; %s", problem, error.text);
}

/** Fails the test unless the answer is rejected with the error message `line`. */
static void assert_wrong(const struct bench *bench, bool ascending, const char *line)
{
    struct error error;

    assert_int_equal(verdict_of(bench, ascending, &error), RUN_WRONG);
    assert_string_equal(error.text, line);
}

/**
 * Fails the test unless the answer is rejected at an element of `array` and the error message gives the expected and
 * the actual value. Returns the element's index.
 */
static int64_t refused_at(const struct bench *bench, bool ascending, const char *array)
{
    const char *rule, *expected, *got;
    char named[64];
    struct error error;
    long long index;

    assert_int_equal(verdict_of(bench, ascending, &error), RUN_WRONG);
    rule = strstr(error.text, ": ");
    expected = strstr(error.text, "; expected ");
    got = strstr(error.text, ", got ");
    if (sscanf(error.text, "%63[^[][%lld]", named, &index) != 2 || !rule || !expected || !got)
        fail_msg("%s: not the line of a failure", error.text);
    assert_true(rule + strlen(": ") < expected && expected + strlen("; expected ") < got && got[strlen(", got ")]);
    assert_string_equal(named, array);
    return index;
}

/** Fails unless the answer is rejected with the error message `line`, whether or not positions must ascend in
 * groups. */
static void assert_wrong_either_way(const struct bench *bench, const char *line)
{
    assert_wrong(bench, false, line);
    assert_wrong(bench, true, line);
}

/* --- right answers ------------------------------------------------------------------------------------------------ */

static void the_worked_case_has_18_places(void **state)
{
    static const int32_t sorted[] = {0, 2, 5, 9, 12, 12, 1, 4, 7, 10, 12, 12, 6, 12, 12, 3, 8, 11, 12, 12, 12};
    static const int32_t experts[] = {0, 0, 1, 1, 2, 3, -1};
    struct bench bench = worked_case();

    (void)state;
    assert_int_equal(bench.problem.capacity, 21);
    assert_int_equal(*bench.buffers.num_tokens_post_padded, 18);
    assert_memory_equal(bench.buffers.sorted_token_ids, sorted, sizeof sorted);
    assert_memory_equal(bench.buffers.expert_ids, experts, sizeof experts);
    assert_right(&bench, true);
    tear_down(&bench);
}

/**
 * Tests ids that name no expert, i64 ids whose low words are valid ids, a map, an expert without ids, and a capacity
 * larger than needed.
 */
static void skipped_ids_and_absent_experts_by_hand(void **state)
{
    static const int64_t ids[] = {2, -1, 0, 4, ((int64_t)1 << 32) + 1, 2, 3, INT64_MIN, 2};
    static const int32_t map[] = {1, 2, -1, 0};
    static const int32_t sorted[] = {2, 9, 0, 5, 8, 9, 6, 9, 9, 9, 9, 9};
    static const int32_t experts[] = {1, -1, -1, 0, -1, -1};
    struct align_problem problem = {.numel = 9, .num_experts = 4, .block_size = 2, .capacity = 12, .wide_ids = true};
    struct bench bench = set_up_ids(problem, ids, map);

    (void)state;
    assert_int_equal(*bench.buffers.num_tokens_post_padded, 8);
    assert_memory_equal(bench.buffers.sorted_token_ids, sorted, sizeof sorted);
    assert_memory_equal(bench.buffers.expert_ids, experts, sizeof experts);
    assert_right(&bench, true);
    tear_down(&bench);
}

static void small_answers_by_hand(void **state)
{
    static const int64_t ids[] = {0, 0, 0}, no_expert[] = {7, -1};
    static const int32_t in_threes[] = {0, 1, 2}, in_twos[] = {0, 1, 2, 3}, alone[] = {0, 1, 2, 3, 3, 3, 3, 3};
    static const int32_t pads[] = {2, 2, 2, 2};
    struct bench bench;

    (void)state;
    bench = set_up_ids(problem_of(3, 1, 1), ids, NULL); /* blocks of one never need padding */
    assert_int_equal(*bench.buffers.num_tokens_post_padded, 3);
    assert_memory_equal(bench.buffers.sorted_token_ids, in_threes, sizeof in_threes);
    tear_down(&bench);

    bench = set_up_ids(problem_of(3, 1, 2), ids, NULL);
    assert_int_equal(*bench.buffers.num_tokens_post_padded, 4);
    assert_memory_equal(bench.buffers.sorted_token_ids, in_twos, sizeof in_twos);
    tear_down(&bench);

    bench = set_up_ids((struct align_problem){.numel = 3, .num_experts = 1, .block_size = 8, .capacity = 8}, ids, NULL);
    assert_int_equal(*bench.buffers.num_tokens_post_padded, 8);
    assert_memory_equal(bench.buffers.sorted_token_ids, alone, sizeof alone);
    tear_down(&bench);

    bench = set_up_ids(problem_of(2, 2, 2), no_expert, NULL);
    assert_int_equal(*bench.buffers.num_tokens_post_padded, 0);
    assert_memory_equal(bench.buffers.sorted_token_ids, pads, sizeof pads);
    assert_int_equal(bench.buffers.expert_ids[0], -1);
    assert_right(&bench, true);
    tear_down(&bench);

    bench = set_up_ids((struct align_problem){.num_experts = 3, .block_size = 2}, ids, NULL); /* no ids, no slots */
    assert_int_equal(*bench.buffers.num_tokens_post_padded, 0);
    assert_right(&bench, true);
    tear_down(&bench);
}

/**
 * Checks the reference's answer to one problem. The capacity is exactly what the ids need if `tight` is true, and
 * otherwise enough for any ids.
 */
static void check_one_problem(struct align_problem problem, enum align_dist dist, bool has_map, bool tight)
{
    struct align_group_layout groups;
    struct bench bench;
    struct error error = {0};
    int64_t valid = 0;

    allocate(problem, has_map, &bench);
    if (!align_generate_ids(&problem, 8, dist, 11, ids_of(&bench), &error))
        fail_msg("%s", error.text);
    if (has_map)
        align_generate_half_local_expert_map(problem.num_experts, 11, map_of(&bench));
    assert_true(align_group_layout_compute(&problem, ids_of(&bench), &groups, &error));
    for (int e = 0; e < problem.num_experts; e++)
        valid += groups.counts[e];
    assert_int_equal(valid + groups.num_invalid_ids, problem.numel);
    assert_true(align_required_capacity(&problem, &groups) <= align_worst_case_capacity_capped_by_ids(&problem));
    if (tight)
        bench.problem.capacity = align_required_capacity(&problem, &groups);
    answer(&bench);
    assert_right(&bench, true);
    align_group_layout_free(&groups);
    tear_down(&bench);
}

static void the_reference_passes_everywhere(void **state)
{
    static const int experts[] = {1, 2, 64, 160, 256, 2048}, block_sizes[] = {1, 3, 16, 64, 128};
    static const int64_t sizes[] = {0, 1, 37, 1003};
    int problems = 0;

    (void)state;
    for (size_t e = 0; e < sizeof experts / sizeof *experts; e++)
        for (size_t b = 0; b < sizeof block_sizes / sizeof *block_sizes; b++)
            for (int dist = 0; dist < NUM_ALIGN_DISTS; dist++)
                for (int form = 0; form < 4 * 2 * 2; form++) {
                    struct align_problem problem = problem_of(sizes[form / 4], experts[e], block_sizes[b]);

                    problem.wide_ids = form % 2;
                    check_one_problem(problem, (enum align_dist)dist, form / 2 % 2, problems++ % 2);
                }
}

/* --- wrong answers: unwritten outputs and wrong values ------------------------------------------------------------ */

static void an_unwritten_answer_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    memset(bench.buffers.sorted_token_ids, ALIGN_POISON_BYTE,
           tensor_bytes(&bench.tensors.tensor[ALIGN_TENSOR_SORTED_TOKEN_IDS]));
    assert_wrong_either_way(&bench, "sorted_token_ids[0] (block 0, of expert 0): every element is a position or numel; "
                                    "expected a position of expert 0 (0 is missing), got -1515870811, as before the "
                                    "launch: nothing was written; missing: 12 of 12 positions, 0 to 11");
    memset(bench.buffers.expert_ids, ALIGN_POISON_BYTE, tensor_bytes(&bench.tensors.tensor[ALIGN_TENSOR_EXPERT_IDS]));
    assert_wrong_either_way(&bench, "expert_ids[0] (block 0, of expert 0): it is the block's expert; expected 0, got "
                                    "-1515870811, as before the launch: nothing was written");
    memset(bench.buffers.num_tokens_post_padded, ALIGN_POISON_BYTE, sizeof *bench.buffers.num_tokens_post_padded);
    assert_wrong_either_way(&bench,
                            "num_tokens_post_padded[0]: it is the sum of the groups, each rounded up to whole blocks; "
                            "expected 18, got -1515870811, as before the launch: nothing was written");
    tear_down(&bench);
}

static void the_answer_to_other_ids_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    ((int32_t *)ids_of(&bench))[1] = 3; /* was 1: expert 3 now needs a second block, expert 1 one fewer */
    assert_wrong_either_way(&bench,
                            "expert_ids[3] (block 3, of expert 2): it is the block's expert; expected 2, got 1");
    tear_down(&bench);
}

/**
 * Sets each element of an output in turn to `value`, which is wrong for every element, and expects the checker to
 * reject the output at this element.
 */
static void assert_refused_everywhere(const struct bench *bench, const char *array, int32_t *elements, int64_t count,
                                      int32_t value)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t right = elements[i];

        elements[i] = value;
        for (int ascending = 0; ascending < 2; ascending++)
            assert_int_equal(refused_at(bench, ascending, array), i);
        elements[i] = right;
    }
}

static void one_element_unwritten_is_rejected(void **state)
{
    static const int32_t values[] = {-1515870811, -2, INT32_MIN, INT32_MAX, 13};
    struct bench bench = worked_case();

    (void)state;
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        assert_refused_everywhere(&bench, "sorted_token_ids", bench.buffers.sorted_token_ids, 21, values[v]);
        assert_refused_everywhere(&bench, "expert_ids", bench.buffers.expert_ids, 7, values[v]);
        assert_refused_everywhere(&bench, "num_tokens_post_padded", bench.buffers.num_tokens_post_padded, 1, values[v]);
    }
    assert_refused_everywhere(&bench, "sorted_token_ids", bench.buffers.sorted_token_ids, 21, -1);
    assert_right(&bench, true);
    tear_down(&bench);
}

/**
 * Tests that any wrong value in any element is rejected. A position that occurs twice is reported at its second
 * occurrence.
 */
static void any_other_value_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    for (int64_t i = 0; i < bench.problem.capacity; i++)
        for (int32_t value = -3; value < 15; value++) {
            int32_t *const element = &bench.buffers.sorted_token_ids[i];
            const int32_t right = *element;

            if (value == right)
                continue;
            *element = value;
            for (int ascending = 0; ascending < 2; ascending++) {
                const int64_t index = refused_at(&bench, ascending, "sorted_token_ids");

                assert_true(index >= i && index < i + 4);
            }
            *element = right;
        }
    tear_down(&bench);
}

/* --- wrong answers: padding --------------------------------------------------------------------------------------- */

static void a_pad_of_zero_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    bench.buffers.sorted_token_ids[20] = 0;
    assert_wrong_either_way(&bench,
                            "sorted_token_ids[20] (block 6, of no expert): past the last block every element is "
                            "numel; expected 12, a pad, got position 0, already placed at 0");
    bench.buffers.sorted_token_ids[4] = 0;
    assert_wrong_either_way(&bench, "sorted_token_ids[4] (block 1, of expert 0): after its last position a group holds "
                                    "numel; expected 12, a pad, got position 0, already placed at 0");
    tear_down(&bench);
}

static void a_pad_inside_a_group_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    bench.buffers.sorted_token_ids[1] = 12;
    bench.buffers.sorted_token_ids[4] = 2;
    assert_wrong_either_way(&bench, "sorted_token_ids[1] (block 0, of expert 0): a group's positions come before its "
                                    "pads; expected a position of expert 0, got 12, a pad");
    tear_down(&bench);
}

static void a_pad_of_minus_one_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    bench.buffers.sorted_token_ids[13] = -1;
    assert_wrong_either_way(&bench,
                            "sorted_token_ids[13] (block 4, of expert 2): after its last position a group holds "
                            "numel; expected 12, a pad, got -1");
    tear_down(&bench);
}

/* --- wrong answers: positions ------------------------------------------------------------------------------------- */

static void a_missing_position_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    bench.buffers.sorted_token_ids[9] = 12;
    assert_wrong_either_way(
        &bench, "sorted_token_ids[9] (block 3, of expert 1): a group's positions come before its "
                "pads; expected a position of expert 1 (10 is missing), got 12, a pad; missing: 1 of 12 positions");
    tear_down(&bench);
}

static void a_position_twice_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    bench.buffers.sorted_token_ids[17] = 3;
    assert_wrong_either_way(
        &bench,
        "sorted_token_ids[17] (block 5, of expert 3): no position is placed twice; expected "
        "a position of expert 3 (11 is missing), got position 3, already placed at 15; missing: 1 of 12 positions");
    tear_down(&bench);
}

static void a_skipped_id_that_is_placed_is_rejected(void **state)
{
    struct bench bench = skipped_case();
    int32_t *const sorted = bench.buffers.sorted_token_ids;

    (void)state;
    assert_int_equal(*bench.buffers.num_tokens_post_padded, 15);
    assert_right(&bench, true);
    sorted[15] = 6;
    assert_wrong_either_way(&bench,
                            "sorted_token_ids[15] (block 5, of no expert): past the last block every element is "
                            "numel; expected 12, a pad, got position 6, whose id -1 names no expert");
    sorted[10] = 6;
    assert_wrong_either_way(&bench,
                            "sorted_token_ids[10] (block 3, of expert 1): after its last position a group holds "
                            "numel; expected 12, a pad, got position 6, whose id -1 names no expert");
    sorted[2] = 6;
    assert_wrong_either_way(&bench, "sorted_token_ids[2] (block 0, of expert 0): ids that name no expert are skipped; "
                                    "expected a position of expert 0 (5 is missing), got position 6, whose id -1 names "
                                    "no expert; missing: 1 of 11 positions");
    tear_down(&bench);
}

static void a_position_in_another_experts_block_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    bench.buffers.sorted_token_ids[0] = 1;
    bench.buffers.sorted_token_ids[6] = 0;
    assert_wrong_either_way(&bench, "sorted_token_ids[0] (block 0, of expert 0): a block holds positions of its own "
                                    "expert only; expected a position of expert 0 (0 is missing), got position 1 of "
                                    "expert 1");
    tear_down(&bench);
}

static void order_matters_where_it_is_promised(void **state)
{
    struct bench bench = worked_case();
    int32_t *const sorted = bench.buffers.sorted_token_ids;

    (void)state;
    for (int i = 0; i < 2; i++) { /* 0 2 5 9 becomes 9 5 2 0 */
        const int32_t element = sorted[i];

        sorted[i] = sorted[3 - i];
        sorted[3 - i] = element;
    }
    assert_right(&bench, false);
    assert_wrong(&bench, true,
                 "sorted_token_ids[1] (block 0, of expert 0): positions ascend inside a group; expected a "
                 "position above 9, got position 5");
    tear_down(&bench);

    bench = worked_case(); /* also across two blocks of one expert */
    bench.buffers.sorted_token_ids[8] = 10;
    bench.buffers.sorted_token_ids[9] = 7;
    assert_right(&bench, false);
    assert_wrong(&bench, true,
                 "sorted_token_ids[9] (block 3, of expert 1): positions ascend inside a group; expected a "
                 "position above 10, got position 7");
    tear_down(&bench);
}

/* --- wrong answers: owners and the total -------------------------------------------------------------------------- */

static void a_wrong_owner_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    bench.buffers.expert_ids[6] = 3;
    assert_wrong_either_way(&bench, "expert_ids[6] (block 6, of no expert): past the last block it is -1; expected -1, "
                                    "got 3");
    bench.buffers.expert_ids[2] = 0;
    assert_wrong_either_way(&bench,
                            "expert_ids[2] (block 2, of expert 1): it is the block's expert; expected 1, got 0");
    tear_down(&bench);
}

static void an_owner_that_is_not_mapped_is_rejected(void **state)
{
    static const int32_t map[] = {-1, 1, 0, -1};
    static const int32_t right[] = {-1, -1, 1, 1, 0, -1, -1};
    struct bench bench = set_up_ids(problem_of(12, 4, 3), worked_ids, map);

    (void)state;
    assert_memory_equal(bench.buffers.expert_ids, right, sizeof right);
    assert_right(&bench, true);
    bench.buffers.expert_ids[4] = 2;
    assert_wrong_either_way(&bench, "expert_ids[4] (block 4, of expert 2): it is what expert_map says of the block's "
                                    "expert; expected 0, got 2");
    bench.buffers.expert_ids[0] = 0;
    assert_wrong_either_way(&bench, "expert_ids[0] (block 0, of expert 0): it is what expert_map says of the block's "
                                    "expert; expected -1, got 0");
    tear_down(&bench);
}

static void a_total_off_by_a_block_is_rejected(void **state)
{
    struct bench bench = worked_case();

    (void)state;
    *bench.buffers.num_tokens_post_padded = 21;
    assert_wrong_either_way(&bench, "num_tokens_post_padded[0]: it is the sum of the groups, each rounded up to whole "
                                    "blocks; expected 18, got 21");
    *bench.buffers.num_tokens_post_padded = 15;
    assert_wrong_either_way(&bench, "num_tokens_post_padded[0]: it is the sum of the groups, each rounded up to whole "
                                    "blocks; expected 18, got 15");
    tear_down(&bench);
}

/* --- a capacity that is too small --------------------------------------------------------------------------------- */

static void a_capacity_that_is_too_small_is_named(void **state)
{
    struct bench bench = worked_case();
    struct error error = {0};

    (void)state;
    bench.problem.capacity = 15;
    assert_false(align_reference_compute(&bench.problem, &bench.buffers, &error));
    assert_string_equal(error.text, "--capacity: 15; these ids need at least 18 slots");
    error.text[0] = '\0';
    assert_false(align_check(&bench.problem, &bench.buffers, true, &error));
    assert_int_equal(error.exit_code, RUN_CANNOT_RUN);
    assert_string_equal(error.text, "--capacity: 15; these ids need at least 18 slots");
    tear_down(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_case_has_18_places),
        cmocka_unit_test(skipped_ids_and_absent_experts_by_hand),
        cmocka_unit_test(small_answers_by_hand),
        cmocka_unit_test(the_reference_passes_everywhere),
        cmocka_unit_test(an_unwritten_answer_is_rejected),
        cmocka_unit_test(the_answer_to_other_ids_is_rejected),
        cmocka_unit_test(one_element_unwritten_is_rejected),
        cmocka_unit_test(any_other_value_is_rejected),
        cmocka_unit_test(a_pad_of_zero_is_rejected),
        cmocka_unit_test(a_pad_inside_a_group_is_rejected),
        cmocka_unit_test(a_pad_of_minus_one_is_rejected),
        cmocka_unit_test(a_missing_position_is_rejected),
        cmocka_unit_test(a_position_twice_is_rejected),
        cmocka_unit_test(a_skipped_id_that_is_placed_is_rejected),
        cmocka_unit_test(a_position_in_another_experts_block_is_rejected),
        cmocka_unit_test(order_matters_where_it_is_promised),
        cmocka_unit_test(a_wrong_owner_is_rejected),
        cmocka_unit_test(an_owner_that_is_not_mapped_is_rejected),
        cmocka_unit_test(a_total_off_by_a_block_is_rejected),
        cmocka_unit_test(a_capacity_that_is_too_small_is_named),
    };
    return cmocka_run_group_tests_name("align_check", tests, NULL, NULL);
}
