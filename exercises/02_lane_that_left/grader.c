/** @file grader.c  02_lane_that_left: checks that every token gets the best expert of its kept groups. */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>

enum { MAX_EXPERTS = MAX_GROUPS * WARP_SIZE };

/** The shape of a launch. */
struct shape {
    int num_tokens, num_expert_group, experts_per_group, topk_group;
};

/** Fills a token's choices. */
typedef void fill(struct random *random, float *choice, struct shape shape);

static int experts_of(struct shape shape)
{
    return shape.num_expert_group * shape.experts_per_group;
}

static void fill_distinct(struct random *random, float *choice, struct shape shape)
{
    for (int expert = 0; expert < experts_of(shape); expert++)
        choice[expert] = random_normal(random);
}

/** Fills the choices with negative numbers, so that a lane that contributes 0 would win. */
static void fill_negative(struct random *random, float *choice, struct shape shape)
{
    for (int expert = 0; expert < experts_of(shape); expert++)
        choice[expert] = -1.0f - random_uniform(random);
}

/** Gives the first group the largest choice of all; the group is dropped unless all groups are kept. */
static void fill_first_dropped(struct random *random, float *choice, struct shape shape)
{
    for (int expert = 0; expert < experts_of(shape); expert++)
        choice[expert] = expert < shape.experts_per_group ? -10.0f : random_uniform(random);
    choice[random_below(random, (uint32_t)shape.experts_per_group)] = 2.0f;
}

/**
 * Makes the last expert of each group the group's best. Higher-numbered groups have larger best choices but lower
 * scores.
 */
static void fill_last_best(struct random *random, float *choice, struct shape shape)
{
    for (int expert = 0; expert < experts_of(shape); expert++) {
        const int group = expert / shape.experts_per_group, last = expert % shape.experts_per_group + 1;
        const float step = 0.1f * (float)group;

        choice[expert] = last == shape.experts_per_group ? 1.0f + step : -2.0f * step - 0.01f * random_uniform(random);
    }
}

static void fill_ties(struct random *random, float *choice, struct shape shape)
{
    for (int expert = 0; expert < experts_of(shape); expert++)
        choice[expert] = (float)random_below(random, 2);
}

/**
 * Gives all groups the same score, so that their numbers decide which ones are kept. The higher a group's number, the
 * larger its best choice.
 */
static void fill_equal_scores(struct random *random, float *choice, struct shape shape)
{
    for (int group = 0; group < shape.num_expert_group; group++) {
        const uint32_t slot = random_below(random, (uint32_t)shape.experts_per_group);
        float *const experts = choice + group * shape.experts_per_group;

        for (int lane = 0; lane < shape.experts_per_group; lane++)
            experts[lane] = -100.0f;
        experts[slot] = 2.0f + 0.25f * (float)group;
        experts[(slot + 1) % (uint32_t)shape.experts_per_group] = 2.0f - 0.25f * (float)group;
    }
}

static void fill_infinities(struct random *random, float *choice, struct shape shape)
{
    for (int expert = 0; expert < experts_of(shape); expert++)
        choice[expert] = random_below(random, 8) ? -INFINITY : -random_uniform(random);
}

static void fill_lowest(struct random *random, float *choice, struct shape shape)
{
    (void)random;
    for (int expert = 0; expert < experts_of(shape); expert++)
        choice[expert] = -INFINITY;
}

/** Returns the score of one group: the sum of its two largest choices. */
static float score_of(const float *choice, int experts_per_group)
{
    float first = -INFINITY, second = -INFINITY;

    for (int expert = 0; expert < experts_per_group; expert++) {
        const float loser = choice[expert] > first ? first : choice[expert];

        first = choice[expert] > first ? choice[expert] : first;
        second = loser > second ? loser : second;
    }
    return first + second;
}

/** Checks whether fewer than topk_group groups rank before `group`. */
static bool is_kept(const float *choice, struct shape shape, int group)
{
    const float score = score_of(choice + group * shape.experts_per_group, shape.experts_per_group);
    int before = 0;

    for (int i = 0; i < shape.num_expert_group; i++) {
        const float other = score_of(choice + i * shape.experts_per_group, shape.experts_per_group);

        before += other > score || (other == score && i < group);
    }
    return before < shape.topk_group;
}

/** Returns the best expert of the kept groups, found by a loop over the experts. */
static struct candidate best_of(const float *choice, struct shape shape)
{
    struct candidate best = {-INFINITY, NO_EXPERT};

    for (int group = 0; group < shape.num_expert_group; group++) {
        if (!is_kept(choice, shape, group))
            continue;
        for (int lane = 0; lane < shape.experts_per_group; lane++) {
            const int expert = group * shape.experts_per_group + lane;

            if (best.id == NO_EXPERT || choice[expert] > best.value)
                best = (struct candidate){choice[expert], expert};
        }
    }
    return best;
}

static void check_token(struct grade_context *grade, int token, const float *choice, struct shape shape,
                        struct candidate got)
{
    const struct candidate expected = best_of(choice, shape);
    const int group = expected.id / shape.experts_per_group;

    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "token %d: nothing was written; expected expert %d of group %d", token, expected.id, group);
    if (got.id == NO_EXPERT)
        grade_fail(grade, "token %d: expected expert %d of group %d, got no expert", token, expected.id, group);
    if (got.id < 0 || got.id >= experts_of(shape))
        grade_fail(grade, "token %d: expected expert %d of group %d, got expert %d, which is none", token, expected.id,
                   group, got.id);
    if (got.id != expected.id)
        grade_fail(grade,
                   "token %d: expected expert %d of group %d with choice %g, got expert %d of group %d, which is %s",
                   token, expected.id, group, (double)expected.value, got.id, got.id / shape.experts_per_group,
                   is_kept(choice, shape, got.id / shape.experts_per_group) ? "kept" : "dropped");
    if (got.value != expected.value)
        grade_fail(grade, "token %d: expected choice %g of expert %d, got %g", token, (double)expected.value,
                   expected.id, (double)got.value);
}

/** Launches the kernel on `choice` and checks every token. */
static void check(struct grade_context *grade, struct shape shape, const float *choice)
{
    const size_t row = (size_t)experts_of(shape);
    const float *const device_choice = grade_device_input(grade, "choice", choice,
                                                          shape.num_tokens * row * sizeof *choice);
    struct candidate *const device_best = grade_device_output(grade, "best", shape.num_tokens * sizeof *device_best);

    GRADE_LAUNCH_AND_CHECK(grade, best_expert_launch(device_choice, shape.num_tokens, shape.num_expert_group,
                                                     shape.experts_per_group, shape.topk_group, device_best));

    const struct candidate *const best = grade_download(grade, device_best);

    for (int token = 0; token < shape.num_tokens; token++)
        check_token(grade, token, choice + token * row, shape, best[token]);
}

static void check_filled(struct grade_context *grade, struct shape shape, fill *fill_choice)
{
    const int row = experts_of(shape);
    float *const choice = grade_allocate_host(grade, (size_t)shape.num_tokens * row * sizeof *choice);

    for (int token = 0; token < shape.num_tokens; token++)
        fill_choice(grade_random(grade), choice + (size_t)token * row, shape);
    grade_describe_input(grade, "%d token%s, %d group%s of %d expert%s, %d kept", shape.num_tokens,
                         shape.num_tokens == 1 ? "" : "s", shape.num_expert_group,
                         shape.num_expert_group == 1 ? "" : "s", shape.experts_per_group,
                         shape.experts_per_group == 1 ? "" : "s", shape.topk_group);
    check(grade, shape, choice);
}

static void the_table(struct grade_context *grade)
{
    static const float choice[3][4] = {{0.9f, 0.1f, 0.2f, 0.1f}, {0.5f, 0.8f, 0.1f, 0.2f}, {0.7f, 0.5f, 0.3f, 0.4f}};

    grade_describe_input(grade, "the README's table: 1 token, 3 groups of 4 experts, 2 kept");
    check(grade, (struct shape){1, 3, 4, 2}, choice[0]);
}

static void whole_warps(struct grade_context *grade)
{
    check_filled(grade, (struct shape){8, 8, 32, 4}, fill_distinct);
    check_filled(grade, (struct shape){4, 8, 32, 8}, fill_distinct);
}

static void lanes_without_expert(struct grade_context *grade)
{
    check_filled(grade, (struct shape){8, 8, 20, 4}, fill_distinct);
    check_filled(grade, (struct shape){4, 8, 20, 4}, fill_negative);
    check_filled(grade, (struct shape){2, 6, 5, 2}, fill_last_best);
}

static void first_group_dropped(struct grade_context *grade)
{
    check_filled(grade, (struct shape){4, 8, 32, 4}, fill_first_dropped);
    check_filled(grade, (struct shape){4, 4, 3, 1}, fill_first_dropped);
}

/** Uses more groups than experts per group, so that the final warp needs lanes that have a group but no expert. */
static void more_groups_than_experts(struct grade_context *grade)
{
    check_filled(grade, (struct shape){4, 32, 3, 32}, fill_distinct);
    check_filled(grade, (struct shape){4, 12, 2, 7}, fill_distinct);
    check_filled(grade, (struct shape){4, 5, 1, 3}, fill_distinct);
    check_filled(grade, (struct shape){1, 1, 1, 1}, fill_distinct);
}

static void equal_choices(struct grade_context *grade)
{
    check_filled(grade, (struct shape){8, 8, 20, 3}, fill_ties);
    check_filled(grade, (struct shape){8, 6, 2, 4}, fill_ties);
    check_filled(grade, (struct shape){4, 8, 20, 3}, fill_equal_scores);
}

static void infinities(struct grade_context *grade)
{
    check_filled(grade, (struct shape){8, 8, 20, 3}, fill_infinities);
    check_filled(grade, (struct shape){2, 4, 20, 2}, fill_lowest);
}

static void costs(struct grade_context *grade)
{
    enum { TOKENS = 4, GROUPS = 8, BARRIERS = 2 };

    check_filled(grade, (struct shape){TOKENS, GROUPS, 20, 4}, fill_distinct);
    grade_check_at_most(grade, "block_barriers", grade_last_launch_counter(grade, "block_barriers"), TOKENS * BARRIERS);
    grade_check_at_most(grade, "global_load_requests", grade_last_launch_counter(grade, "global_load_requests"),
                        TOKENS * GROUPS);
}

const struct grade_case grade_cases[] = {
    {"the_table", the_table, false},
    {"whole_warps", whole_warps, false},
    {"lanes_without_expert", lanes_without_expert, false},
    {"first_group_dropped", first_group_dropped, false},
    {"equal_choices", equal_choices, false},
    {"more_groups_than_experts", more_groups_than_experts, false},
    {"infinities", infinities, false},
    {"costs", costs, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
