/** @file test_align_input.c  Tests align's limits, their messages, and the generated ids, counts and expert maps. */
#include "harness/align/input.h"
#include "harness/align/problem.h"
#include "harness/align/reference.h"
#include "harness/align/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct align_problem problem_of(int64_t numel, int num_experts, int block_size)
{
    struct align_problem problem = {.numel = numel, .num_experts = num_experts, .block_size = block_size};

    problem.capacity = align_worst_case_capacity(&problem);
    return problem;
}

static size_t ids_bytes(const struct align_problem *problem)
{
    return (size_t)problem->numel * dtype_size(align_ids_dtype(problem));
}

/** Returns ids drawn from a distribution; the caller frees them. */
static void *generated(const struct align_problem *problem, int topk, enum align_dist dist, uint64_t seed)
{
    void *const topk_ids = malloc(ids_bytes(problem) + 1);
    struct error error = {0};

    assert_non_null(topk_ids);
    if (!align_generate_ids(problem, topk, dist, seed, topk_ids, &error))
        fail_msg("%s", error.text);
    return topk_ids;
}

static struct align_group_layout groups_of(const struct align_problem *problem, const void *topk_ids)
{
    struct align_group_layout groups;
    struct error error;

    assert_true(align_group_layout_compute(problem, topk_ids, &groups, &error));
    return groups;
}

static int experts_hit(const struct align_problem *problem, const struct align_group_layout *groups)
{
    int hit = 0;

    for (int e = 0; e < problem->num_experts; e++)
        hit += groups->counts[e] > 0;
    return hit;
}

/** Returns how many times `id` occurs among the ids of the token that begins at `begin`. */
static int times_in_token(const struct align_problem *problem, const void *topk_ids, int64_t begin, int topk,
                          int64_t id)
{
    int times = 0;

    for (int64_t i = begin; i < begin + topk && i < problem->numel; i++)
        times += align_load_id(problem, topk_ids, i) == id;
    return times;
}

/* --- the problem -------------------------------------------------------------------------------------------------- */

static void assert_refused(struct align_problem problem, const char *line)
{
    struct error error = {0};

    assert_false(align_problem_check(&problem, &error));
    assert_string_equal(error.text, line);
}

static void limits_are_named(void **state)
{
    (void)state;
    assert_refused((struct align_problem){.numel = -1, .num_experts = 1, .block_size = 1},
                   "--num-tokens: -1 ids; there can be 0 to 2147483647");
    assert_refused((struct align_problem){.numel = 2147483648, .num_experts = 1, .block_size = 1},
                   "--num-tokens: 2147483648 ids; there can be 0 to 2147483647");
    assert_refused((struct align_problem){.num_experts = 0, .block_size = 1},
                   "--num-experts: 0; it must be 1 to 1048576");
    assert_refused((struct align_problem){.num_experts = 1048577, .block_size = 1},
                   "--num-experts: 1048577; it must be 1 to 1048576");
    assert_refused((struct align_problem){.num_experts = 1, .block_size = 0}, "--block-size: 0; it must be at least 1");
    assert_refused((struct align_problem){.num_experts = 1, .block_size = 2, .capacity = -2},
                   "--capacity: sorted_token_ids with -2 slots; it can have 0 to 2147483647");
    assert_refused((struct align_problem){.num_experts = 1, .block_size = 2, .capacity = 2147483648},
                   "--capacity: sorted_token_ids with 2147483648 slots; it can have 0 to 2147483647");
    assert_refused((struct align_problem){.num_experts = 1, .block_size = 64, .capacity = 100},
                   "--capacity: 100; it must be a multiple of --block-size 64 that all groups and their pads fit in");
}

static void the_ends_of_the_limits_are_allowed(void **state)
{
    struct align_problem problem = {.numel = INT32_MAX, .num_experts = 1 << 20, .block_size = INT32_MAX};
    struct error error = {0};

    (void)state;
    assert_true(align_shape_check(&problem, &error));
    assert_true(align_worst_case_capacity(&problem) > INT32_MAX); /* the 64-bit capacity does not overflow */
    problem.capacity = INT32_MAX;
    assert_true(align_problem_check(&problem, &error));
    problem = problem_of(0, 1, 1);
    assert_true(align_problem_check(&problem, &error));
    assert_int_equal(problem.capacity, 0);
}

static void ids_are_counted_without_overflow(void **state)
{
    struct error error = {0};
    int64_t numel = -1;

    (void)state;
    assert_true(align_compute_numel(2048, 8, &numel, &error));
    assert_int_equal(numel, 16384);
    assert_true(align_compute_numel(0, INT32_MAX, &numel, &error));
    assert_int_equal(numel, 0);
    assert_true(align_compute_numel(INT32_MAX, 1, &numel, &error));
    assert_int_equal(numel, INT32_MAX);
    assert_false(align_compute_numel(268435456, 8, &numel, &error));
    assert_string_equal(error.text, "--num-tokens: 268435456 tokens of 8 ids; there can be 2147483647 ids in all");
    assert_false(align_compute_numel(INT64_MAX, INT32_MAX, &numel, &error));
    assert_false(align_compute_numel(-1, 8, &numel, &error));
    assert_string_equal(error.text, "--num-tokens: -1; it must be 0 or more");
    assert_false(align_compute_numel(1, 0, &numel, &error));
    assert_string_equal(error.text, "--topk: 0; it must be at least 1");
}

/** Returns the size in bytes of one of the problem's tensors. */
static size_t bytes_of(const struct align_problem *problem, int tensor)
{
    struct tensors tensors;
    struct error error;
    size_t bytes;

    assert_true(align_tensors_allocate_host(problem, NULL, true, 0, &tensors, &error));
    bytes = tensor_bytes(&tensors.tensor[tensor]);
    tensors_free(&tensors);
    return bytes;
}

static void sizes_and_the_description(void **state)
{
    struct align_problem problem = problem_of(12, 4, 3);
    char text[200];

    (void)state;
    assert_int_equal(problem.capacity, 21);
    assert_int_equal(align_row_block_capacity(&problem), 7);
    assert_int_equal(bytes_of(&problem, ALIGN_TENSOR_TOPK_IDS), 48);
    assert_int_equal(bytes_of(&problem, ALIGN_TENSOR_EXPERT_MAP), 16);
    assert_int_equal(bytes_of(&problem, ALIGN_TENSOR_SORTED_TOKEN_IDS), 84);
    assert_int_equal(bytes_of(&problem, ALIGN_TENSOR_EXPERT_IDS), 28);
    align_problem_describe(&problem, text, sizeof text);
    assert_string_equal(text, "12 i32 ids of 4 experts in blocks of 3, 21 slots");
    problem = (struct align_problem){.numel = 1, .num_experts = 1, .block_size = 1, .capacity = 1, .wide_ids = true};
    assert_int_equal(bytes_of(&problem, ALIGN_TENSOR_TOPK_IDS), 8);
    align_problem_describe(&problem, text, sizeof text);
    assert_string_equal(text, "1 i64 id of 1 expert in blocks of 1, 1 slot");
}

/* --- distributions ------------------------------------------------------------------------------------------------ */

static bool tokens_are_distinct(const struct align_problem *problem, const void *topk_ids, int topk)
{
    for (int64_t i = 0; i < problem->numel; i++)
        if (times_in_token(problem, topk_ids, i / topk * topk, topk, align_load_id(problem, topk_ids, i)) != 1)
            return false;
    return true;
}

static void names_are_all_different(void **state)
{
    (void)state;
    for (int a = 0; a < NUM_ALIGN_DISTS; a++)
        for (int b = 0; b < a; b++)
            assert_string_not_equal(align_dist_names[a], align_dist_names[b]);
    assert_string_equal(align_dist_names[ALIGN_DIST_BALANCED], "balanced");
    assert_string_equal(align_dist_names[ALIGN_DIST_INVALID], "invalid");
}

static void tokens_hold_no_expert_twice(void **state)
{
    static const enum align_dist dists[] = {ALIGN_DIST_BALANCED, ALIGN_DIST_UNIFORM, ALIGN_DIST_ZIPF};
    static const int shapes[][2] = {{1, 1}, {2, 1}, {2, 2}, {8, 8}, {160, 6}, {256, 8}, {64, 64}, {7, 3}};

    (void)state;
    for (size_t d = 0; d < sizeof dists / sizeof *dists; d++)
        for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
            const int num_experts = shapes[shape][0], topk = shapes[shape][1];
            const struct align_problem problem = problem_of(100 * topk + topk / 2, num_experts, 16);
            void *const topk_ids = generated(&problem, topk, dists[d], 3);

            if (!tokens_are_distinct(&problem, topk_ids, topk))
                fail_msg("%s: %d of %d experts", align_dist_names[dists[d]], topk, num_experts);
            free(topk_ids);
        }
}

/** Tests tokens with more ids than experts: no expert is used again before every other expert has been used. */
static void tokens_larger_than_all_experts(void **state)
{
    static const enum align_dist dists[] = {ALIGN_DIST_BALANCED, ALIGN_DIST_UNIFORM, ALIGN_DIST_ZIPF};
    const struct align_problem problem = problem_of(50 * 11, 4, 16);

    (void)state;
    for (size_t d = 0; d < sizeof dists / sizeof *dists; d++) {
        void *const topk_ids = generated(&problem, 11, dists[d], 3);

        for (int64_t begin = 0; begin < problem.numel; begin += 11)
            for (int e = 0; e < 4; e++)
                assert_in_range(times_in_token(&problem, topk_ids, begin, 11, e), 2, 3);
        free(topk_ids);
    }
}

static void balanced_is_balanced_and_shuffled(void **state)
{
    static const int64_t sizes[] = {0, 1, 100, 255, 256, 257, 16384, 16388};

    (void)state;
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
        const struct align_problem problem = problem_of(sizes[size], 256, 64);
        void *const topk_ids = generated(&problem, 8, ALIGN_DIST_BALANCED, 5);
        struct align_group_layout groups = groups_of(&problem, topk_ids);

        for (int e = 0; e < 256; e++)
            assert_in_range(groups.counts[e], sizes[size] / 256, sizes[size] / 256 + 1);
        assert_int_equal(groups.num_invalid_ids, 0);
        align_group_layout_free(&groups);
        free(topk_ids);
    }
    const struct align_problem problem = problem_of(16384, 256, 64);
    int32_t *const topk_ids = generated(&problem, 8, ALIGN_DIST_BALANCED, 5);
    int follows = 0, recurs = 0;

    for (int i = 1; i < 16384; i++)
        follows += topk_ids[i] == topk_ids[i - 1] + 1;
    for (int i = 0; i < 16384 - 256; i += 8) /* 32 tokens use every expert once */
        recurs += times_in_token(&problem, topk_ids, i + 256, 8, topk_ids[i]);
    assert_in_range(follows, 1, 16384 / 32);
    assert_in_range(recurs, 1, 2048 / 8);
    free(topk_ids);
}

static void uniform_hits_everyone_alike(void **state)
{
    const struct align_problem problem = problem_of(256 * 1000, 256, 64);
    void *const topk_ids = generated(&problem, 8, ALIGN_DIST_UNIFORM, 5);
    struct align_group_layout groups = groups_of(&problem, topk_ids);

    (void)state;
    for (int e = 0; e < 256; e++)
        assert_in_range(groups.counts[e], 850, 1150); /* 1000 +- five standard deviations of about 31 */
    align_group_layout_free(&groups);
    free(topk_ids);
}

static void zipf_has_few_favourites(void **state)
{
    const struct align_problem problem = problem_of(256 * 1000, 256, 64);
    void *const topk_ids = generated(&problem, 8, ALIGN_DIST_ZIPF, 5);
    struct align_group_layout groups = groups_of(&problem, topk_ids);
    int favourites = 0, rare = 0;

    (void)state;
    for (int e = 0; e < 256; e++) {
        favourites += groups.counts[e] > 4 * 1000;
        rare += groups.counts[e] < 1000 / 2;
    }
    assert_in_range(favourites, 5, 32);
    assert_in_range(rare, 128, 256);
    align_group_layout_free(&groups);
    free(topk_ids);
}

/** Tests Zipf's distribution with one id per token: the k-th expert has 1/k of the first expert's share. */
static void zipf_follows_its_law(void **state)
{
    const struct align_problem problem = problem_of(1000000, 8, 64);
    void *const topk_ids = generated(&problem, 1, ALIGN_DIST_ZIPF, 5);
    struct align_group_layout groups = groups_of(&problem, topk_ids);
    const double first = 1000000 / (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0 + 1 / 5.0 + 1 / 6.0 + 1 / 7.0 + 1 / 8.0);
    bool found[8] = {false};

    (void)state;
    for (int e = 0; e < 8; e++) {
        const int rank = (int)(first / (double)groups.counts[e] + 0.5) - 1;

        assert_in_range(rank, 0, 7);
        assert_false(found[rank]);
        found[rank] = true;
        assert_in_range(groups.counts[e], (int64_t)(0.99 * first / (rank + 1)), (int64_t)(1.01 * first / (rank + 1)));
    }
    align_group_layout_free(&groups);
    free(topk_ids);
}

static void one_and_sparse_leave_most_experts_empty(void **state)
{
    static const int hit[][3] = {{1, 1, 1}, {2, 1, 2}, {20, 1, 2}, {64, 1, 4}, {256, 1, 16}, {2048, 1, 128}};

    (void)state;
    for (size_t i = 0; i < sizeof hit / sizeof *hit; i++) {
        const struct align_problem problem = problem_of(8 * 1000, hit[i][0], 64);

        for (int sparse = 0; sparse < 2; sparse++) {
            void *const topk_ids = generated(&problem, 8, sparse ? ALIGN_DIST_SPARSE : ALIGN_DIST_ONE_EXPERT, 5);
            struct align_group_layout groups = groups_of(&problem, topk_ids);

            assert_int_equal(experts_hit(&problem, &groups), hit[i][1 + sparse]);
            if (sparse && hit[i][2] >= 8)
                assert_true(tokens_are_distinct(&problem, topk_ids, 8));
            align_group_layout_free(&groups);
            free(topk_ids);
        }
    }
}

static void repeated_repeats_in_every_token(void **state)
{
    static const int topks[] = {2, 3, 5, 8, 33};

    (void)state;
    for (size_t t = 0; t < sizeof topks / sizeof *topks; t++)
        for (int num_experts = 1; num_experts < 300; num_experts += 97) {
            const int topk = topks[t];
            const struct align_problem problem = problem_of(1000 * topk, num_experts, 16);
            void *const topk_ids = generated(&problem, topk, ALIGN_DIST_REPEATED, 5);
            struct align_group_layout groups = groups_of(&problem, topk_ids);

            for (int64_t i = 0; i < problem.numel; i++)
                assert_true(times_in_token(&problem, topk_ids, i / topk * topk, topk,
                                           align_load_id(&problem, topk_ids, i)) >= 2);
            assert_int_equal(groups.num_invalid_ids, 0);
            assert_true(experts_hit(&problem, &groups) > num_experts / 3);
            align_group_layout_free(&groups);
            free(topk_ids);
        }
}

static int64_t times_in_all(const struct align_problem *problem, const void *topk_ids, int64_t id)
{
    int64_t times = 0;

    for (int64_t i = 0; i < problem->numel; i++)
        times += align_load_id(problem, topk_ids, i) == id;
    return times;
}

static void invalid_has_every_kind(void **state)
{
    static const int64_t both[] = {-1, 256, 257, INT32_MIN, INT32_MAX, 0, 255};
    struct align_problem problem = problem_of(16384, 256, 64);
    int above = 0, below = 0, far_below = 0; /* far_below: the low word is a valid id */
    int of_15_bits = 0, of_16_bits = 0;      /* the low 15 or 16 bits are a valid id */

    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        problem.wide_ids = wide;

        void *const topk_ids = generated(&problem, 8, ALIGN_DIST_INVALID, 5);
        struct align_group_layout groups = groups_of(&problem, topk_ids);

        for (size_t i = 0; i < sizeof both / sizeof *both; i++)
            assert_true(times_in_all(&problem, topk_ids, both[i]) > 0);
        assert_in_range(groups.num_invalid_ids, 7500, 8900);
        for (int64_t i = 0; wide && i < problem.numel; i++) {
            const int64_t id = align_load_id(&problem, topk_ids, i);

            of_15_bits += id >> 8 == 32768 >> 8;
            of_16_bits += id >> 8 == 65536 >> 8;
            above += id >> 32 == 1 && (uint32_t)id < 256;
            below += id >> 32 == -1 && (uint32_t)id < 256;
            far_below += id >> 32 == INT32_MIN && (uint32_t)id < 256;
        }
        if (wide)
            assert_true(times_in_all(&problem, topk_ids, (int64_t)1 << 32) > 0);
        align_group_layout_free(&groups);
        free(topk_ids);
    }
    assert_in_range(above, 1200, 1550); /* half of the ids are invalid; `above` counts two of their twelve kinds */
    assert_in_range(below, 580, 790);
    assert_in_range(far_below, 580, 790);
    assert_in_range(of_15_bits, 580, 790);
    assert_in_range(of_16_bits, 580, 790);
}

static void both_types_get_the_same_ids(void **state)
{
    (void)state;
    for (int dist = 0; dist < NUM_ALIGN_DISTS; dist++) {
        struct align_problem narrow = problem_of(4001, 160, 16), wide = narrow;
        void *narrow_ids, *wide_ids;

        wide.wide_ids = true;
        narrow_ids = generated(&narrow, 6, (enum align_dist)dist, 9);
        wide_ids = generated(&wide, 6, (enum align_dist)dist, 9);
        for (int64_t i = 0; i < narrow.numel; i++) {
            const int64_t id = align_load_id(&wide, wide_ids, i);
            const bool fits = id >= INT32_MIN && id <= INT32_MAX;

            assert_int_equal(align_load_id(&narrow, narrow_ids, i), fits ? id : -1);
        }
        free(narrow_ids);
        free(wide_ids);
    }
}

static void seeds_decide(void **state)
{
    const struct align_problem problem = problem_of(4001, 160, 16);

    (void)state;
    for (int dist = 0; dist < NUM_ALIGN_DISTS; dist++) {
        void *const first = generated(&problem, 6, (enum align_dist)dist, 1);
        void *const again = generated(&problem, 6, (enum align_dist)dist, 1);
        void *const other = generated(&problem, 6, (enum align_dist)dist, 2);

        assert_memory_equal(first, again, ids_bytes(&problem));
        assert_memory_not_equal(first, other, ids_bytes(&problem));
        free(first);
        free(again);
        free(other);
    }
}

/* --- counts ------------------------------------------------------------------------------------------------------- */

static void counts_are_met_in_random_order(void **state)
{
    static const int64_t counts[] = {3, 1, 700, 0, 4, 1, 6, 3};
    struct align_problem problem = problem_of(0, 8, 1);
    struct error error;
    int32_t *topk_ids, *again;
    struct align_group_layout groups;

    (void)state;
    assert_true(align_sum_counts(counts, 8, &problem.numel, &error));
    assert_int_equal(problem.numel, 718);
    topk_ids = malloc(ids_bytes(&problem));
    again = malloc(ids_bytes(&problem));
    assert_non_null(topk_ids);
    assert_non_null(again);
    align_generate_ids_with_counts(&problem, counts, 4, topk_ids);
    align_generate_ids_with_counts(&problem, counts, 4, again);
    assert_memory_equal(topk_ids, again, ids_bytes(&problem));
    align_generate_ids_with_counts(&problem, counts, 5, again);
    assert_memory_not_equal(topk_ids, again, ids_bytes(&problem));
    groups = groups_of(&problem, topk_ids);
    assert_memory_equal(groups.counts, counts, sizeof counts);
    assert_int_equal(align_busiest_expert(&problem, &groups), 2);
    assert_false(topk_ids[0] == 0 && topk_ids[1] == 0 && topk_ids[2] == 0 && topk_ids[3] == 1);
    align_group_layout_free(&groups);
    free(topk_ids);
    free(again);
}

static void wrong_counts_are_rejected(void **state)
{
    static const int64_t negative[] = {3, -1}, many[] = {2147483647, 0, 1}, huge[] = {INT64_MAX, INT64_MAX};
    static const int64_t most[] = {2147483646, 1};
    struct error error = {0};
    int64_t numel;

    (void)state;
    assert_false(align_sum_counts(negative, 2, &numel, &error));
    assert_string_equal(error.text, "--counts: -1 for expert 1; a count is 0 or more");
    assert_false(align_sum_counts(many, 3, &numel, &error));
    assert_string_equal(error.text,
                        "--counts: more than 2147483647 ids with expert 2's; that is the most there can be");
    assert_false(align_sum_counts(huge, 2, &numel, &error));
    assert_true(align_sum_counts(most, 2, &numel, &error));
    assert_int_equal(numel, INT32_MAX);
}

static void the_lower_of_two_busiest_experts(void **state)
{
    static const int32_t topk_ids[] = {3, 1, 3, 0, 1};
    const struct align_problem problem = problem_of(5, 4, 1);
    struct align_group_layout groups = groups_of(&problem, topk_ids);

    (void)state;
    assert_int_equal(align_busiest_expert(&problem, &groups), 1);
    align_group_layout_free(&groups);
}

/* --- conversion of ids -------------------------------------------------------------------------------------------- */

static void conversion_keeps_what_an_id_means(void **state)
{
    static const int64_t wide_source[] = {5, -1, ((int64_t)1 << 32) + 3, INT64_MIN, INT32_MAX, INT32_MIN};
    static const int32_t narrow_source[] = {5, -1, INT32_MIN};
    static const int32_t narrow_wanted[] = {5, -1, -1, -1, INT32_MAX, INT32_MIN, 5, -1};
    static const int64_t wide_wanted[] = {5, -1, INT32_MIN, 5, -1, INT32_MIN, 5, -1};
    struct align_problem problem = problem_of(8, 256, 1);
    int32_t narrow[8];
    int64_t wide[8];

    (void)state;
    align_repeat_ids_from_array(&problem, &(struct npy_array){DTYPE_I64, 1, {6}, (void *)wide_source}, narrow);
    assert_memory_equal(narrow, narrow_wanted, sizeof narrow);
    problem.wide_ids = true;
    align_repeat_ids_from_array(&problem, &(struct npy_array){DTYPE_I32, 1, {3}, (void *)narrow_source}, wide);
    assert_memory_equal(wide, wide_wanted, sizeof wide);
    align_repeat_ids_from_array(&problem, &(struct npy_array){DTYPE_I64, 1, {6}, (void *)wide_source}, wide);
    assert_memory_equal(wide, wide_source, sizeof wide_source);
    problem.numel = 0;
    align_repeat_ids_from_array(&problem, &(struct npy_array){DTYPE_I64, 1, {0}, NULL}, wide);
}

/* --- maps --------------------------------------------------------------------------------------------------------- */

/** Passes a map in a .npy array to align_convert_expert_map(), which checks and copies the map. */
static bool map_is_taken(enum dtype dtype, const void *map, int64_t length, int num_experts, int32_t *copy,
                         struct error *error)
{
    return align_convert_expert_map(&(struct npy_array){dtype, 1, {length}, (void *)map}, num_experts, copy, error);
}

static void half_of_the_experts_are_local(void **state)
{
    static const int sizes[] = {1, 2, 7, 256, 2048};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int num_experts = sizes[i];
        int32_t map[2048], other[2048];
        int num_local = 0, in_order = 0;
        struct error error = {0};

        align_generate_half_local_expert_map(num_experts, 3, map);
        for (int e = 0; e < num_experts; e++) {
            num_local += map[e] >= 0;
            in_order += e > 0 && map[e] == map[e - 1] + 1;
        }
        assert_int_equal(num_local, num_experts - num_experts / 2);
        if (!map_is_taken(DTYPE_I32, map, num_experts, num_experts, other, &error))
            fail_msg("%s", error.text);
        assert_memory_equal(map, other, num_experts * sizeof *map);
        if (num_experts < 256)
            continue;
        assert_in_range(in_order, 0, num_experts / 4);
        align_generate_half_local_expert_map(num_experts, 3, other);
        assert_memory_equal(map, other, num_experts * sizeof *map);
        align_generate_half_local_expert_map(num_experts, 4, other);
        assert_memory_not_equal(map, other, num_experts * sizeof *map);
    }
}

static void assert_map_refused(const int32_t *map, int64_t length, int num_experts, const char *line)
{
    int64_t wide[4];
    int32_t copy[4];
    struct error error = {0};

    assert_false(map_is_taken(DTYPE_I32, map, length, num_experts, copy, &error));
    assert_string_equal(error.text, line);
    for (int i = 0; i < 4; i++)
        wide[i] = map[i];
    assert_false(map_is_taken(DTYPE_I64, wide, length, num_experts, copy, &error));
    assert_string_equal(error.text, line);
}

static void wrong_maps_are_rejected(void **state)
{
    static const int32_t right[] = {-1, 1, 0, -1}, below[] = {0, 1, -2, -1}, above[] = {0, -1, 2, -1};
    static const int32_t twice[] = {1, 0, -1, 0}, single[] = {-1, -1, -1, 1};

    (void)state;
    assert_map_refused(right, 3, 4, "--expert-map: 3 values for 4 experts; each needs one, its local number or -1");
    assert_map_refused(right, 1, 4, "--expert-map: 1 value for 4 experts; each needs one, its local number or -1");
    assert_map_refused(right, 4, 1, "--expert-map: 4 values for 1 expert; each needs one, its local number or -1");
    assert_map_refused(below, 4, 4,
                       "--expert-map: -2 at index 2; the 3 local experts are 0 to 2, each once, and others are -1");
    assert_map_refused(above, 4, 4,
                       "--expert-map: 2 at index 2; the 2 local experts are 0 to 1, each once, and others are -1");
    assert_map_refused(twice, 4, 4,
                       "--expert-map: 0 at index 3 and at index 1; the 3 local experts are 0 to 2, each once, and "
                       "others are -1");
    assert_map_refused(single, 4, 4, "--expert-map: 1 at index 3; the 1 local expert is 0, and others are -1");
}

static void maps_are_converted(void **state)
{
    static const int64_t wide[] = {-1, 1, 0, -1}, beyond[] = {0, -1, (int64_t)1 << 32, -1};
    static const int32_t narrow[] = {-1, 1, 0, -1}, no_expert[] = {-1, -1};
    int32_t map[4] = {7, 7, 7, 7};
    struct error error = {0};

    (void)state;
    assert_true(map_is_taken(DTYPE_I64, wide, 4, 4, map, &error));
    assert_memory_equal(map, narrow, sizeof map);
    assert_true(map_is_taken(DTYPE_I32, narrow, 4, 4, map, &error));
    assert_memory_equal(map, narrow, sizeof map);
    assert_true(map_is_taken(DTYPE_I32, no_expert, 2, 2, map, &error));
    assert_false(map_is_taken(DTYPE_I64, beyond, 4, 4, map, &error));
    assert_string_equal(error.text, "--expert-map: 4294967296 at index 2; a local expert is below 4, others are -1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(the_ends_of_the_limits_are_allowed),
        cmocka_unit_test(ids_are_counted_without_overflow),
        cmocka_unit_test(sizes_and_the_description),
        cmocka_unit_test(names_are_all_different),
        cmocka_unit_test(tokens_hold_no_expert_twice),
        cmocka_unit_test(tokens_larger_than_all_experts),
        cmocka_unit_test(balanced_is_balanced_and_shuffled),
        cmocka_unit_test(uniform_hits_everyone_alike),
        cmocka_unit_test(zipf_has_few_favourites),
        cmocka_unit_test(zipf_follows_its_law),
        cmocka_unit_test(one_and_sparse_leave_most_experts_empty),
        cmocka_unit_test(repeated_repeats_in_every_token),
        cmocka_unit_test(invalid_has_every_kind),
        cmocka_unit_test(both_types_get_the_same_ids),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(counts_are_met_in_random_order),
        cmocka_unit_test(wrong_counts_are_rejected),
        cmocka_unit_test(the_lower_of_two_busiest_experts),
        cmocka_unit_test(conversion_keeps_what_an_id_means),
        cmocka_unit_test(half_of_the_experts_are_local),
        cmocka_unit_test(wrong_maps_are_rejected),
        cmocka_unit_test(maps_are_converted),
    };
    return cmocka_run_group_tests_name("align_input", tests, NULL, NULL);
}
