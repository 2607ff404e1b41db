/**
 * @file grader.c
 * @brief 08_owner_of_a_block: checks that every block gets its expert, for groups of any size, with few loads.
 */
#include "exercise.h"
#include "../grade/grade.h"

enum { WARP_SIZE = 32, MAX_EXPERTS = 2048 };

/** The experts' groups of slots, and the number of blocks whose experts are to be found. */
struct groups {
    int num_experts, block_size, num_row_blocks;
    int offsets[MAX_EXPERTS + 1];
};

/** Returns the number of blocks in an expert's group. */
typedef int spread(struct random *random, int expert, int num_experts);

static int spread_few(struct random *random, int expert, int num_experts)
{
    (void)expert, (void)num_experts;
    return (int)random_below(random, 4);
}

static int spread_one_each(struct random *random, int expert, int num_experts)
{
    (void)random, (void)expert, (void)num_experts;
    return 1;
}

/** Returns 0 blocks for most experts, including the first and the last. */
static int spread_gaps(struct random *random, int expert, int num_experts)
{
    const bool has_blocks = expert > 0 && expert < num_experts - 1 && random_below(random, 6) == 0;

    return has_blocks ? 1 + (int)random_below(random, 9) : 0;
}

static int spread_nothing(struct random *random, int expert, int num_experts)
{
    (void)random, (void)expert, (void)num_experts;
    return 0;
}

static int spread_all_to_first(struct random *random, int expert, int num_experts)
{
    (void)random, (void)num_experts;
    return expert == 0 ? 100 : 0;
}

static int spread_all_to_middle(struct random *random, int expert, int num_experts)
{
    (void)random;
    return expert == num_experts / 2 ? 300 : 0;
}

static int spread_all_to_last(struct random *random, int expert, int num_experts)
{
    (void)random;
    return expert == num_experts - 1 ? 100 : 0;
}

/** Makes groups of the sizes that `blocks_of` returns, and `blocks_after` blocks past the last group. */
static struct groups *make_groups(struct grade_context *grade, int num_experts, int block_size, spread *blocks_of,
                                  int blocks_after)
{
    struct groups *const groups = grade_allocate_host(grade, sizeof *groups);
    int blocks = 0;

    groups->num_experts = num_experts;
    groups->block_size = block_size;
    for (int expert = 0; expert < num_experts; expert++) {
        groups->offsets[expert] = blocks * block_size;
        blocks += blocks_of(grade_random(grade), expert, num_experts);
    }
    groups->offsets[num_experts] = blocks * block_size;
    groups->num_row_blocks = blocks + blocks_after > 0 ? blocks + blocks_after : 1;
    return groups;
}

/** Returns the expected result, found by a loop over the experts. */
static int owner_of(const struct groups *groups, int block)
{
    const int64_t slot = (int64_t)block * groups->block_size;

    for (int expert = 0; expert < groups->num_experts; expert++)
        if (slot >= groups->offsets[expert] && slot < groups->offsets[expert + 1])
            return expert;
    return -1;
}

static void check_past(struct grade_context *grade, const struct groups *groups, int block, int got)
{
    const int end = groups->offsets[groups->num_experts];

    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "block %d: expected -1, past slot %d where the last group ends; nothing was written", block,
                   end);
    grade_fail(grade, "block %d: expected -1, past slot %d where the last group ends; got %d", block, end, got);
}

static void check_block(struct grade_context *grade, const struct groups *groups, int block, int got)
{
    const int expected = owner_of(groups, block), *const offsets = groups->offsets;

    if (got == expected)
        return;
    if (expected < 0)
        check_past(grade, groups, block, got);
    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "block %d: expected expert %d, whose group is slots %d to %d; nothing was written", block,
                   expected, offsets[expected], offsets[expected + 1] - 1);
    if (got >= 0 && got < groups->num_experts && offsets[got] == offsets[got + 1])
        grade_fail(grade, "block %d: expected expert %d, whose group is slots %d to %d; got %d, whose group is empty",
                   block, expected, offsets[expected], offsets[expected + 1] - 1, got);
    grade_fail(grade, "block %d: expected expert %d, whose group is slots %d to %d; got %d", block, expected,
               offsets[expected], offsets[expected + 1] - 1, got);
}

static void check(struct grade_context *grade, const struct groups *groups)
{
    const int num_experts = groups->num_experts, num_row_blocks = groups->num_row_blocks;
    const int *const offsets = grade_device_input(grade, "offsets", groups->offsets,
                                                  ((size_t)num_experts + 1) * sizeof *offsets);
    int *const expert_ids = grade_device_output(grade, "expert_ids", (size_t)num_row_blocks * sizeof *expert_ids);

    grade_describe_input(grade, "%d expert%s, %d block%s of %d", num_experts, num_experts == 1 ? "" : "s",
                         num_row_blocks, num_row_blocks == 1 ? "" : "s", groups->block_size);
    GRADE_LAUNCH_AND_CHECK(grade,
                           expert_ids_launch(offsets, num_experts, groups->block_size, num_row_blocks, expert_ids));

    const int *const got = grade_download(grade, expert_ids);

    for (int block = 0; block < num_row_blocks; block++)
        check_block(grade, groups, block, got[block]);
}

static void check_spread(struct grade_context *grade, int num_experts, int block_size, spread *blocks_of,
                         int blocks_after)
{
    check(grade, make_groups(grade, num_experts, block_size, blocks_of, blocks_after));
}

/** Runs the README's example. */
static void shown_groups(struct grade_context *grade)
{
    static const struct groups groups = {
        .num_experts = 6, .block_size = 4, .num_row_blocks = 8, .offsets = {0, 8, 8, 8, 12, 20, 20}};

    check(grade, &groups);
}

static void many_experts(struct grade_context *grade)
{
    check_spread(grade, 256, 64, spread_one_each, 0);
    check_spread(grade, 256, 64, spread_few, 0);
    check_spread(grade, 8, 1, spread_few, 5);
}

static void experts_without_a_block(struct grade_context *grade)
{
    check_spread(grade, 256, 64, spread_gaps, 10);
    check_spread(grade, 128, 16, spread_gaps, 10);
    check_spread(grade, 12, 16, spread_gaps, 10);
}

static void past_the_end(struct grade_context *grade)
{
    check_spread(grade, 64, 128, spread_few, 40);
    check_spread(grade, 64, 128, spread_nothing, 1);
    check_spread(grade, 64, 128, spread_nothing, 300);
}

static void all_to_one(struct grade_context *grade)
{
    check_spread(grade, 256, 64, spread_all_to_first, 7);
    check_spread(grade, 256, 64, spread_all_to_middle, 7);
    check_spread(grade, 256, 64, spread_all_to_last, 7);
    check_spread(grade, MAX_EXPERTS, 64, spread_all_to_last, 7); /* more experts than threads */
}

/** Runs with expert counts that are not powers of two, and with a single expert. */
static void other_numbers(struct grade_context *grade)
{
    static const int counts[] = {1, 2, 3, 5, 7, 33, 160};

    for (int i = 0; i < 7; i++) {
        const int block_size = 1 + (int)random_below(grade_random(grade), 200);

        check_spread(grade, counts[i], block_size, spread_one_each, 3);
        check_spread(grade, counts[i], block_size, spread_few, 3);
    }
}

/** Runs with slots close to the limit of 2,147,483,647. */
static void far_slots(struct grade_context *grade)
{
    check_spread(grade, 5, 1 << 20, spread_all_to_last, 1900);
    check_spread(grade, 1000, 1 << 20, spread_one_each, 0);
}

static uint64_t warps_of(const struct groups *groups)
{
    return (uint64_t)(groups->num_row_blocks + WARP_SIZE - 1) / WARP_SIZE;
}

/** Allows about twice the loads of a binary search, which loads the end and one offset per round. */
static void loads(struct grade_context *grade)
{
    static const int counts[] = {32, 160, 256, MAX_EXPERTS};

    for (int i = 0; i < 4; i++) {
        const struct groups *const groups = make_groups(grade, counts[i], 64, spread_few, 3);
        uint64_t rounds = 0;

        while (1 << rounds < counts[i])
            rounds++;
        check(grade, groups);
        grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                            warps_of(groups) * (2 * rounds + 4));
    }
}

/** Allows two store requests per warp; one is enough if each thread writes one entry, whatever the groups' sizes. */
static void stores(struct grade_context *grade)
{
    const struct groups *const groups = make_groups(grade, 256, 64, spread_all_to_middle, 3);

    check(grade, groups);
    grade_check_at_most(grade, "global_store_requests", grade_last_launch_counter(grade, "global_store_requests"),
                        2 * warps_of(groups));
}

const struct grade_case grade_cases[] = {
    {"shown_groups", shown_groups, false},
    {"many_experts", many_experts, false},
    {"experts_without_a_block", experts_without_a_block, false},
    {"past_the_end", past_the_end, false},
    {"all_to_one", all_to_one, false},
    {"other_numbers", other_numbers, false},
    {"far_slots", far_slots, false},
    {"loads", loads, true},
    {"stores", stores, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
