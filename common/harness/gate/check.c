#include "harness/gate/check.h"

#include "base/memory.h"
#include "harness/gate/problem.h"
#include "harness/gate/reference.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The answer for the row under check, and the checker's scratch memory; each thread has one. */
struct examination {
    const struct gate_problem *problem;
    int64_t token; /* index of the token; -1 if there is no row yet */
    const int32_t *ids;
    const float *weights;
    struct gate_row row;
    struct interval *right_weights; /* [topk + num_fused_shared_experts] */
    int32_t *right_ids;             /* [topk] */
    bool *chosen;                   /* [num_experts] */
    bool *used;                     /* [num_expert_group] whether an expert of the group was chosen */
    bool *stays;                    /* [num_expert_group] whether the group must be kept */
    bool *shut;                     /* [num_expert_group] whether the group cannot be kept */
    error_phrase expected, got;
    struct error error;
};

static bool examination_start(const struct gate_problem *problem, enum gate_tie_rule tie_rule, struct examination *exam)
{
    struct error *const error = &exam->error;

    *exam = (struct examination){.problem = problem, .token = -1};
    if (!gate_row_allocate(problem, &exam->row, error) ||
        !ALLOCATE_ARRAY(exam->right_weights, gate_experts_per_token(problem), error) ||
        !ALLOCATE_ARRAY(exam->right_ids, problem->topk, error) ||
        !ALLOCATE_ARRAY(exam->chosen, problem->num_experts, error) ||
        !ALLOCATE_ARRAY(exam->used, 3 * (size_t)problem->num_expert_group, error))
        return false;
    exam->stays = exam->used + problem->num_expert_group;
    exam->shut = exam->stays + problem->num_expert_group;
    exam->row.any_tie_order_allowed = tie_rule == GATE_TIES_EITHER_WINS;
    return true;
}

static void examination_end(struct examination *exam)
{
    gate_row_free(&exam->row);
    free(exam->right_weights);
    free(exam->right_ids);
    free(exam->chosen);
    free(exam->used);
}

/* --- what is wrong ----------------------------------------------------------------------------------------- */

static int group_of(const struct examination *exam, int expert)
{
    return expert / gate_experts_per_group(exam->problem);
}

/**
 * Sets the error for an expert, or for no particular expert if `expert` is -1. The caller must have set exam->expected
 * and exam->got. Returns false.
 */
static bool fail(struct examination *exam, int expert, const char *rule)
{
    char where[64] = "";

    if (expert >= 0)
        snprintf(where, sizeof where, ", group %d, expert %d", group_of(exam, expert), expert);
    return error_set_as(&exam->error, RUN_WRONG, "token %" PRId64 "%s: %s; expected %s, got %s", exam->token, where,
                        rule, exam->expected, exam->got);
}

/** Describes an expert and its choice: "expert 17 (choice 0.81250)" or "expert 17 (its choice is NaN)". */
static void describe_expert(error_phrase *text, const struct examination *exam, int expert)
{
    if (exam->row.experts[expert].choice_is_nan)
        error_phrase_set(text, "expert %d (its choice is NaN)", expert);
    else
        error_phrase_set(text, "expert %d (choice %.9g)", expert, exam->row.experts[expert].choice_score.value);
}

/* --- rules that need no reference --------------------------------------------------------------------------------- */

static bool ids_are_distinct_and_in_range(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;

    memset(exam->chosen, 0, problem->num_experts * sizeof *exam->chosen);
    for (int k = 0; k < problem->topk; k++) {
        const int32_t id = exam->ids[k];

        if (id < 0 || id >= problem->num_experts) {
            error_phrase_set(&exam->expected, "0 to %d", problem->num_experts - 1);
            error_phrase_set(&exam->got, "%" PRId32 " at slot %d", id, k);
            return fail(exam, -1, "every id names an expert");
        }
        if (exam->chosen[id])
            return error_set_as(
                &exam->error, RUN_WRONG,
                "token %" PRId64 ", group %d: expert %" PRId32
                " is chosen twice, again at slot %d (%d different experts expected)" ERROR_ADVICE_SEPARATOR
                "take each chosen expert out before the next is chosen; in a sort, let lanes "
                "exchange in pairs: one keeps the better, the other the worse",
                exam->token, group_of(exam, id), id, k, problem->topk);
        exam->chosen[id] = true;
    }
    return true;
}

static bool shared_experts_are_behind(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;

    for (int i = 0; i < problem->num_fused_shared_experts; i++) {
        const int32_t id = exam->ids[problem->topk + i];

        if (id != problem->num_experts + i) {
            error_phrase_set(&exam->expected, "%d at slot %d", problem->num_experts + i, problem->topk + i);
            error_phrase_set(&exam->got, "%" PRId32, id);
            return fail(exam, -1, "shared experts stand behind those chosen");
        }
    }
    return true;
}

static bool groups_are_few_enough(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;
    int groups = 0;

    memset(exam->used, 0, problem->num_expert_group * sizeof *exam->used);
    for (int k = 0; k < problem->topk; k++) {
        const int group = group_of(exam, exam->ids[k]);

        groups += !exam->used[group];
        exam->used[group] = true;
        if (groups > problem->topk_group) {
            error_phrase_set(&exam->expected, "experts from %d groups", problem->topk_group);
            error_phrase_set(&exam->got, "one from group %d as well", group);
            return fail(exam, exam->ids[k], "choices come from the kept groups");
        }
    }
    return true;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

/**
 * Returns the group's first expert that was not chosen although it certainly ranks before a chosen one, or -1.
 */
static int wronged_expert(const struct examination *exam, int group)
{
    const int size = gate_experts_per_group(exam->problem);

    for (int e = group * size; e < (group + 1) * size; e++)
        for (int k = 0; !exam->chosen[e] && k < exam->problem->topk; k++)
            if (gate_expert_certainly_before(&exam->row, e, exam->ids[k]))
                return e;
    return -1;
}

/**
 * Marks every group that certainly ranks before a marked group (after it if `downwards` is set), until no mark changes.
 * Returns the number of marked groups.
 */
static int close_marks(const struct examination *exam, bool downwards, bool *marked)
{
    const int groups = exam->problem->num_expert_group;
    bool changed = true;
    int count = 0;

    while (changed) {
        changed = false;
        for (int a = 0; a < groups; a++)
            for (int b = 0; !marked[a] && b < groups; b++)
                if (marked[b] && gate_group_certainly_before(&exam->row, downwards ? b : a, downwards ? a : b))
                    changed = marked[a] = true;
    }
    for (int g = 0; g < groups; g++)
        count += marked[g];
    return count;
}

static bool fail_choice(struct examination *exam, int got, const char *rule)
{
    int where = 0;

    gate_row_choose_experts(exam->problem, &exam->row, exam->right_ids);
    while (where < exam->problem->topk - 1 && exam->chosen[exam->right_ids[where]])
        where++;
    describe_expert(&exam->expected, exam, exam->right_ids[where]);
    describe_expert(&exam->got, exam, got);
    return fail(exam, got, rule);
}

/** Returns the chosen expert that ranks last according to the reference. */
static int last_chosen(const struct examination *exam)
{
    int last = exam->ids[0];

    for (int k = 1; k < exam->problem->topk; k++)
        if (exam->row.experts[exam->ids[k]].choice_score.value < exam->row.experts[last].choice_score.value)
            last = exam->ids[k];
    return last;
}

/** Returns whether two experts' choices are equal, so that their ids decide the order. */
static bool are_equal(const struct examination *exam, int a, int b)
{
    const struct gate_expert *experts = exam->row.experts;

    return experts[a].choice_score.value == experts[b].choice_score.value && !experts[a].choice_is_nan &&
           !experts[b].choice_is_nan;
}

/**
 * Sets the error for kept groups that are not the best ones. The error names a chosen expert's group and a better
 * group.
 */
static bool fail_group(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;

    for (int k = 0; k < problem->topk; k++) {
        const int got = group_of(exam, exam->ids[k]);

        for (int g = 0; g < problem->num_expert_group; g++)
            if (!exam->used[g] && gate_group_certainly_before(&exam->row, g, got)) {
                error_phrase_set(&exam->expected, "group %d (score %.9g)", g, exam->row.groups[g].score.value);
                error_phrase_set(&exam->got, "group %d (score %.9g)", got, exam->row.groups[got].score.value);
                return fail(exam, exam->ids[k], "the best groups are kept");
            }
    }
    return fail_choice(exam, last_chosen(exam), "the best groups are kept");
}

/**
 * Checks that there is a set of topk_group groups that contains every chosen expert, in which no group is certainly
 * worse than a group outside the set, and from which no expert is wrongly left out (see wronged_expert()). Such a set
 * contains the chosen experts' groups and, for each member, every group that certainly ranks before that member. These
 * groups can be extended to topk_group groups if and only if there are enough other groups such that neither they nor
 * any group that ranks before them has an expert that is wrongly left out.
 */
static bool groups_are_the_best(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;

    for (int g = 0; g < problem->num_expert_group; g++) {
        const int wronged = wronged_expert(exam, g);

        exam->shut[g] = wronged >= 0;
        if (exam->used[g] && wronged >= 0) {
            describe_expert(&exam->expected, exam, wronged);
            describe_expert(&exam->got, exam, last_chosen(exam));
            return fail(exam, wronged,
                        are_equal(exam, wronged, last_chosen(exam))
                            ? "of equal choices the lower expert is chosen"
                            : "of the experts in the kept groups, the best are chosen");
        }
    }
    memcpy(exam->stays, exam->used, problem->num_expert_group * sizeof *exam->stays);
    if (close_marks(exam, false, exam->stays) > problem->topk_group)
        return fail_group(exam);
    for (int g = 0; g < problem->num_expert_group; g++)
        if (exam->stays[g] && exam->shut[g])
            return fail_choice(exam, last_chosen(exam), "of the experts in the kept groups, the best are chosen");
    if (problem->num_expert_group - close_marks(exam, true, exam->shut) < problem->topk_group)
        return fail_choice(exam, last_chosen(exam), "of the experts in the kept groups, the best are chosen");
    return true;
}

/* --- order and weights -------------------------------------------------------------------------------------------- */

static bool order_is_descending(struct examination *exam)
{
    for (int k = 1; k < exam->problem->topk; k++) {
        const int before = exam->ids[k - 1], after = exam->ids[k];

        if (gate_expert_certainly_before(&exam->row, after, before)) {
            describe_expert(&exam->expected, exam, after);
            describe_expert(&exam->got, exam, before);
            return fail(exam, before,
                        are_equal(exam, before, after) ? "of equal choices the lower expert comes first"
                                                       : "choices come best first");
        }
    }
    return true;
}

static bool weights_are_right(struct examination *exam)
{
    gate_row_compute_weights(exam->problem, &exam->row, exam->ids, exam->right_weights);
    for (int k = 0; k < gate_experts_per_token(exam->problem); k++) {
        const struct interval right = exam->right_weights[k];
        const float got = exam->weights[k];
        const bool nan_is_right = isnan(right.low) || isnan(right.high);

        if (nan_is_right || (got >= right.low && got <= right.high))
            continue;
        error_phrase_set(&exam->expected, "weight %.9g (%.9g to %.9g)", right.value, right.low, right.high);
        error_phrase_set(&exam->got, "%.9g at slot %d", got, k);
        if (k >= exam->problem->topk)
            return fail(exam, -1,
                        "a shared expert's weight is the chosen ones' sum over the factor, divided as they are");
        return fail(exam, exam->ids[k],
                    "a weight is the chosen expert's score, divided and scaled as asked (renormalize, "
                    "routed_scaling_factor)");
    }
    return true;
}

/**
 * Checks that all weights of the token equal its scores times one common factor, within the scores' own errors. The sum
 * of a softmax has many terms and may have a larger error, but all scores share this error. Renormalized weights do not
 * depend on the sum, and rounding to 16 bits hides its error.
 */
static bool weights_share_a_factor(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;
    const float scale = gate_output_scale(problem);
    double least = 0.0, most = INFINITY;

    if (problem->score != GATE_SCORE_SOFTMAX || problem->renormalize || problem->dtype != DTYPE_F32 || scale == 0.0f)
        return true;
    for (int k = 0; k < problem->topk; k++) {
        const struct interval own = exam->row.experts[exam->ids[k]].score_without_shared_error;
        const double weight = (double)exam->weights[k] / scale;
        const double low = weight / own.high * (1.0 - 0x1p-23), high = weight / own.low * (1.0 + 0x1p-23);

        if (fabsf(exam->weights[k]) < FLT_MIN) /* the relative rounding error is not bounded for subnormal floats */
            continue;
        if (low > most || high < least) {
            error_phrase_set(&exam->expected, "%.9g to %.9g times the score %.9g", least, most, own.value);
            error_phrase_set(&exam->got, "weight %.9g, %.9g times, at slot %d", exam->weights[k], weight / own.value,
                             k);
            return fail(exam, exam->ids[k], "a token's weights are its scores by one factor");
        }
        least = fmax(least, low);
        most = fmin(most, high);
    }
    return true;
}

static bool row_is_right(struct examination *exam, const struct gate_buffers *buffers, int64_t token)
{
    exam->token = token;
    exam->ids = buffers->topk_ids + token * gate_experts_per_token(exam->problem);
    exam->weights = buffers->topk_weights + token * gate_experts_per_token(exam->problem);
    if (!ids_are_distinct_and_in_range(exam) || !shared_experts_are_behind(exam) || !groups_are_few_enough(exam))
        return false;
    gate_row_compute_intervals(exam->problem, buffers->gating_output, buffers->correction_bias, token, &exam->row);
    return groups_are_the_best(exam) && order_is_descending(exam) && weights_are_right(exam) &&
           weights_share_a_factor(exam);
}

static void add_count(struct error *error, int64_t num_wrong, int64_t num_tokens)
{
    const size_t length = (size_t)(error_find_advice_separator_or_end(error->text) - error->text);
    const struct error found = *error;

    snprintf(error->text + length, sizeof error->text - length, "; wrong: %" PRId64 " of %" PRId64 " tokens%s",
             num_wrong, num_tokens, found.text + length);
}

bool gate_check(const struct gate_problem *problem, const struct gate_buffers *buffers, enum gate_tie_rule tie_rule,
                struct error *error)
{
    int64_t first_wrong = INT64_MAX; /* lowest wrong token; -1 if a thread could not allocate its examination */
    int64_t num_wrong = 0;

#pragma omp parallel if (problem->num_tokens >= GATE_MIN_ROWS_PER_THREAD)
    {
        struct examination exam;
        const bool ready = examination_start(problem, tie_rule, &exam);
        int64_t first = ready ? INT64_MAX : exam.token;
        struct error first_error = exam.error;

#pragma omp for schedule(static) reduction(+ : num_wrong)
        for (int64_t token = 0; token < problem->num_tokens; token++) {
            if (!ready || row_is_right(&exam, buffers, token))
                continue;
            if (first == INT64_MAX) {
                first = token;
                first_error = exam.error;
            }
            num_wrong++;
        }

#pragma omp critical
        if (first < first_wrong) {
            first_wrong = first;
            *error = first_error;
        }
        examination_end(&exam);
    }
    if (first_wrong >= 0 && num_wrong > 0)
        add_count(error, num_wrong, problem->num_tokens);
    return first_wrong == INT64_MAX;
}
