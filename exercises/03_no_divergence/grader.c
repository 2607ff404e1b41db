/**
 * @file grader.c
 * @brief 03_no_divergence: checks that the right experts come in the right order, without a divergent branch.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <math.h>

/** Fills a token's choices. */
typedef void fill(struct random *random, float *choice, int num_experts);

static void fill_equal(struct random *random, float *choice, int num_experts)
{
    const float value = random_normal(random);

    for (int expert = 0; expert < num_experts; expert++)
        choice[expert] = value;
}

/** Fills the choices with -infinity and a few numbers, so that some of the chosen experts have -infinity. */
static void fill_infinities(struct random *random, float *choice, int num_experts)
{
    for (int expert = 0; expert < num_experts; expert++)
        choice[expert] = random_below(random, 8) ? -INFINITY : random_normal(random);
}

static void fill_lowest(struct random *random, float *choice, int num_experts)
{
    (void)random;
    for (int expert = 0; expert < num_experts; expert++)
        choice[expert] = -INFINITY;
}

/**
 * Fills the choices with numbers of very different magnitudes, so that adding two of them often loses the smaller one.
 */
static void fill_far_apart(struct random *random, float *choice, int num_experts)
{
    for (int expert = 0; expert < num_experts; expert++)
        choice[expert] = ldexpf(random_normal(random), (int)random_below(random, 200) - 100);
}

/** Checks whether expert `a` ranks before `b`. */
static bool ranks_before(const float *choice, int a, int b)
{
    return choice[a] > choice[b] || (choice[a] == choice[b] && a < b);
}

/** Returns the expert that belongs in `slot`: exactly `slot` other experts rank before it. */
static int expert_at(const float *choice, int num_experts, int slot)
{
    for (int expert = 0; expert < num_experts; expert++) {
        int before = 0;

        for (int other = 0; other < num_experts; other++)
            before += ranks_before(choice, other, expert);
        if (before == slot)
            return expert;
    }
    return NO_EXPERT;
}

static void check_slot(struct grade_context *grade, int token, int slot, struct candidate expected,
                       struct candidate got)
{
    if (got.id == expected.id && got.value == expected.value)
        return;
    if (grade_is_unwritten(&got, sizeof got))
        grade_fail(grade, "token %d, slot %d: nothing was written", token, slot);
    if (expected.id == NO_EXPERT)
        grade_fail(grade, "token %d, slot %d: expected no expert at -inf, got id %d with choice %g", token, slot,
                   got.id, (double)got.value);
    if (got.id == NO_EXPERT)
        grade_fail(grade, "token %d, slot %d: expected expert %d with choice %g, got no expert", token, slot,
                   expected.id, (double)expected.value);
    if (got.id != expected.id)
        grade_fail(grade, "token %d, slot %d: expected expert %d with choice %g, got expert %d with %g", token, slot,
                   expected.id, (double)expected.value, got.id, (double)got.value);
    grade_fail(grade, "token %d, slot %d: expected choice %g of expert %d, got %g", token, slot, (double)expected.value,
               expected.id, (double)got.value);
}

/** Launches the kernel on `choice` and checks every slot. */
static void check(struct grade_context *grade, int num_tokens, int num_experts, int topk, const float *choice)
{
    const size_t count = (size_t)num_tokens * num_experts, slots = (size_t)num_tokens * WARP_SIZE;
    const float *const device_choice = grade_device_input(grade, "choice", choice, count * sizeof *choice);
    struct candidate *const device_best = grade_device_output(grade, "best", slots * sizeof *device_best);

    GRADE_LAUNCH_AND_CHECK(grade, top_experts_launch(device_choice, num_tokens, num_experts, topk, device_best));

    const struct candidate *const best = grade_download(grade, device_best);

    for (int token = 0; token < num_tokens; token++)
        for (int slot = 0; slot < WARP_SIZE; slot++) {
            const float *const row = choice + (size_t)token * num_experts;
            const int expert = slot < topk ? expert_at(row, num_experts, slot) : NO_EXPERT;
            const struct candidate expected = {expert == NO_EXPERT ? -INFINITY : row[expert], expert};

            check_slot(grade, token, slot, expected, best[token * WARP_SIZE + slot]);
        }
}

static void check_filled(struct grade_context *grade, int num_tokens, int num_experts, int topk, fill *fill_choice)
{
    float *const choice = grade_allocate_host(grade, (size_t)num_tokens * num_experts * sizeof *choice);

    for (int token = 0; token < num_tokens; token++)
        fill_choice(grade_random(grade), choice + (size_t)token * num_experts, num_experts);
    grade_describe_input(grade, "%d token%s of %d expert%s, top %d", num_tokens, num_tokens == 1 ? "" : "s",
                         num_experts, num_experts == 1 ? "" : "s", topk);
    check(grade, num_tokens, num_experts, topk, choice);
}

static void the_table(struct grade_context *grade)
{
    static const float choice[6] = {0.25f, 0.75f, -INFINITY, 0.75f, 0.5f, -INFINITY};

    grade_describe_input(grade, "the README's table: 1 token of 6 experts, top 5");
    check(grade, 1, 6, 5, choice);
}

static void distinct_choices(struct grade_context *grade)
{
    check_filled(grade, 16, 32, 8, grade_fill_mostly_distinct);
    check_filled(grade, 2, 32, 32, grade_fill_mostly_distinct);
    check_filled(grade, 8, 32, 8, fill_far_apart);
}

static void equal_choices(struct grade_context *grade)
{
    check_filled(grade, 16, 32, 8, grade_fill_ties);
    check_filled(grade, 4, 32, 32, fill_equal);
}

static void sizes(struct grade_context *grade)
{
    static const int experts[] = {1, 2, 5, 17, 31};

    for (int i = 0; i < (int)(sizeof experts / sizeof *experts); i++) {
        check_filled(grade, i + 1, experts[i], 1, grade_fill_mostly_distinct);
        check_filled(grade, i + 2, experts[i], experts[i], grade_fill_mostly_distinct);
    }
}

static void infinities(struct grade_context *grade)
{
    check_filled(grade, 16, 32, 12, fill_infinities);
    check_filled(grade, 8, 20, 20, fill_infinities);
    check_filled(grade, 2, 20, 8, fill_lowest);
}

/** The launch whose counters are checked: every lane has an expert, and many choices are equal. */
enum { TOKENS = 4, TOPK = 8, STEPS = 5, VALUES = 2 };

static void divergence(struct grade_context *grade)
{
    check_filled(grade, TOKENS, 32, TOPK, grade_fill_ties);
    grade_check_no_divergence(grade);
}

static void shuffles(struct grade_context *grade)
{
    check_filled(grade, TOKENS, 32, TOPK, grade_fill_ties);
    grade_check_shuffles_only(grade, TOKENS, TOPK * STEPS, TOPK * STEPS * VALUES);
}

const struct grade_case grade_cases[] = {
    {"the_table", the_table, false},
    {"distinct_choices", distinct_choices, false},
    {"equal_choices", equal_choices, false},
    {"sizes", sizes, false},
    {"infinities", infinities, false},
    {"divergence", divergence, true},
    {"shuffles", shuffles, true},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
