#include "harness/gate/check.h"

#include "harness/gate/problem.h"
#include "harness/gate/reference.h"
#include "harness/core/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** One row's answer under examination, and what the examiner needs; one per thread. */
struct examination {
    const struct gate_problem *problem;
    int64_t token;
    const int32_t *ids;
    const float *weights;
    struct gate_row row;
    struct interval *right_weights; /* [topk] */
    int32_t *right_ids;             /* [topk] */
    bool *chosen;                   /* [num_experts] */
    bool *used;                     /* [num_expert_group] holds a chosen expert */
    bool *stays;                    /* [num_expert_group] must be among the kept groups */
    bool *shut;                     /* [num_expert_group] cannot be among them */
    struct gate_failure failure;
};

static bool examination_start(const struct gate_problem *problem, enum gate_ties ties, struct examination *exam,
                              struct error *error)
{
    memset(exam, 0, sizeof *exam);
    exam->problem = problem;
    if (!gate_row_allocate(problem, &exam->row, error))
        return false;
    exam->row.ties_are_free = ties == GATE_TIES_FREE;
    return ALLOCATE_ARRAY(exam->right_weights, problem->topk, error) &&
           ALLOCATE_ARRAY(exam->right_ids, problem->topk, error) &&
           ALLOCATE_ARRAY(exam->chosen, problem->num_experts, error) &&
           ALLOCATE_ARRAY(exam->used, problem->num_expert_group, error) &&
           ALLOCATE_ARRAY(exam->stays, problem->num_expert_group, error) &&
           ALLOCATE_ARRAY(exam->shut, problem->num_expert_group, error);
}

static void examination_end(struct examination *exam)
{
    gate_row_free(&exam->row);
    free(exam->right_weights);
    free(exam->right_ids);
    free(exam->chosen);
    free(exam->used);
    free(exam->stays);
    free(exam->shut);
}

/* --- what is wrong ----------------------------------------------------------------------------------------- */

static bool fail(struct examination *exam, int group, int expert, const char *rule)
{
    exam->failure.token = exam->token;
    exam->failure.group = group;
    exam->failure.expert = expert;
    snprintf(exam->failure.rule, sizeof exam->failure.rule, "%s", rule);
    return false;
}

/** "expert 17 (choice 0.81250)", or why it has none. */
static void describe_expert(error_words *text, const struct examination *exam, int expert)
{
    if (exam->row.invalid[expert])
        error_words_set(text, "expert %d (its choice is NaN)", expert);
    else
        error_words_set(text, "expert %d (choice %.9g)", expert, exam->row.choice[expert].value);
}

/* --- rules that need no reference --------------------------------------------------------------------------------- */

static bool ids_are_distinct_and_in_range(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;

    memset(exam->chosen, 0, problem->num_experts * sizeof *exam->chosen);
    for (int k = 0; k < problem->topk; k++) {
        const int32_t id = exam->ids[k];

        if (id < 0 || id >= problem->num_experts) {
            error_words_set(&exam->failure.expected, "0 to %d", problem->num_experts - 1);
            error_words_set(&exam->failure.got, "%" PRId32 " at place %d", id, k);
            return fail(exam, -1, -1, "every id names an expert");
        }
        if (exam->chosen[id]) {
            error_words_set(&exam->failure.expected, "%d different experts", problem->topk);
            error_words_set(&exam->failure.got, "expert %" PRId32 " again at place %d", id, k);
            return fail(exam, id / gate_experts_per_group(problem), id, "no expert is chosen twice");
        }
        exam->chosen[id] = true;
    }
    return true;
}

static bool groups_are_few_enough(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;
    int groups = 0;

    memset(exam->used, 0, problem->num_expert_group * sizeof *exam->used);
    for (int k = 0; k < problem->topk; k++) {
        const int group = exam->ids[k] / gate_experts_per_group(problem);

        groups += !exam->used[group];
        exam->used[group] = true;
        if (groups > problem->topk_group) {
            error_words_set(&exam->failure.expected, "experts from %d groups", problem->topk_group);
            error_words_set(&exam->failure.got, "one from group %d as well", group);
            return fail(exam, group, exam->ids[k], "choices come from the groups that stay");
        }
    }
    return true;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

/** The best expert of the group that is left out although it certainly ranks before a chosen one; -1 if there is none. */
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
 * Marks every group that certainly ranks before (or, downwards, after) a marked one, until nothing changes. Returns how many are
 * marked.
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
    const int size = gate_experts_per_group(exam->problem);
    int place = 0;

    gate_row_choose(exam->problem, &exam->row, exam->right_ids);
    while (place < exam->problem->topk - 1 && exam->chosen[exam->right_ids[place]])
        place++;
    describe_expert(&exam->failure.expected, exam, exam->right_ids[place]);
    describe_expert(&exam->failure.got, exam, got);
    return fail(exam, got / size, got, rule);
}

/** The chosen expert that ranks last by the reference. */
static int last_chosen(const struct examination *exam)
{
    int last = exam->ids[0];

    for (int k = 1; k < exam->problem->topk; k++)
        if (exam->row.choice[exam->ids[k]].value < exam->row.choice[last].value)
            last = exam->ids[k];
    return last;
}

/** More groups rank before the used ones than may stay: names a chosen expert's group and one that should be there. */
static bool fail_group(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;

    for (int k = 0; k < problem->topk; k++) {
        const int got = exam->ids[k] / gate_experts_per_group(problem);

        for (int g = 0; g < problem->num_expert_group; g++)
            if (!exam->used[g] && gate_group_certainly_before(&exam->row, g, got)) {
                error_words_set(&exam->failure.expected, "group %d (score %.9g)", g, exam->row.group[g].value);
                error_words_set(&exam->failure.got, "group %d (score %.9g)", got, exam->row.group[got].value);
                return fail(exam, got, exam->ids[k], "the best groups stay");
            }
    }
    return fail_choice(exam, last_chosen(exam), "the best groups stay");
}

/**
 * There must be topk_group groups that hold every choice, none certainly worse than a group left out, in which no
 * expert is wronged. Such a set is closed upwards: it grows from what is used by whatever certainly ranks before, and
 * can be filled up to topk_group exactly when enough groups, each with all that rank before it, are free of wrong.
 */
static bool groups_are_the_best(struct examination *exam)
{
    const struct gate_problem *problem = exam->problem;

    for (int g = 0; g < problem->num_expert_group; g++) {
        const int wronged = wronged_expert(exam, g);

        exam->shut[g] = wronged >= 0;
        if (exam->used[g] && wronged >= 0) {
            describe_expert(&exam->failure.expected, exam, wronged);
            describe_expert(&exam->failure.got, exam, last_chosen(exam));
            return fail(exam, g, wronged, "inside the groups that stay the best experts are chosen");
        }
    }
    memcpy(exam->stays, exam->used, problem->num_expert_group * sizeof *exam->stays);
    if (close_marks(exam, false, exam->stays) > problem->topk_group)
        return fail_group(exam);
    for (int g = 0; g < problem->num_expert_group; g++)
        if (exam->stays[g] && exam->shut[g])
            return fail_choice(exam, last_chosen(exam), "inside the groups that stay the best experts are chosen");
    if (problem->num_expert_group - close_marks(exam, true, exam->shut) < problem->topk_group)
        return fail_choice(exam, last_chosen(exam), "inside the groups that stay the best experts are chosen");
    return true;
}

/* --- order and weights -------------------------------------------------------------------------------------------- */

static bool order_is_descending(struct examination *exam)
{
    for (int k = 1; k < exam->problem->topk; k++) {
        const int before = exam->ids[k - 1], after = exam->ids[k];

        if (gate_expert_certainly_before(&exam->row, after, before)) {
            describe_expert(&exam->failure.expected, exam, after);
            describe_expert(&exam->failure.got, exam, before);
            return fail(exam, before / gate_experts_per_group(exam->problem), before, "choices come best first");
        }
    }
    return true;
}

static bool weights_are_right(struct examination *exam)
{
    gate_row_weights(exam->problem, &exam->row, exam->ids, exam->right_weights);
    for (int k = 0; k < exam->problem->topk; k++) {
        const struct interval right = exam->right_weights[k];
        const float got = exam->weights[k];
        const bool nan_is_right = isnan(right.low) || isnan(right.high);

        if (nan_is_right || (got >= right.low && got <= right.high))
            continue;
        error_words_set(&exam->failure.expected, "weight %.9g (%.9g to %.9g)", right.value, right.low, right.high);
        error_words_set(&exam->failure.got, "%.9g at place %d", got, k);
        return fail(exam, exam->ids[k] / gate_experts_per_group(exam->problem), exam->ids[k],
                    "a weight is the chosen expert's score, divided and scaled as asked");
    }
    return true;
}

static bool row_is_right(struct examination *exam, const struct gate_buffers *buffers, int64_t token)
{
    exam->token = token;
    exam->ids = buffers->topk_ids + token * exam->problem->topk;
    exam->weights = buffers->topk_weights + token * exam->problem->topk;
    if (!ids_are_distinct_and_in_range(exam) || !groups_are_few_enough(exam))
        return false;
    gate_row_compute(exam->problem, buffers->gating_output, buffers->correction_bias, token, &exam->row);
    return groups_are_the_best(exam) && order_is_descending(exam) && weights_are_right(exam);
}

/** The failure as one line. */
static bool set_error(const struct gate_failure *failure, struct error *error)
{
    char group[24] = "", expert[24] = "";

    if (failure->group >= 0)
        snprintf(group, sizeof group, ", group %d", failure->group);
    if (failure->expert >= 0)
        snprintf(expert, sizeof expert, ", expert %d", failure->expert);
    return error_set_as(error, RUN_WRONG, "token %" PRId64 "%s%s: %s; expected %s, got %s", failure->token, group,
                        expert, failure->rule, failure->expected, failure->got);
}

bool gate_check(const struct gate_problem *problem, const struct gate_buffers *buffers, enum gate_ties ties,
                struct gate_failure *failure, struct error *error)
{
    bool all_ready = true, all_right = true;

#pragma omp parallel if (problem->num_tokens >= GATE_ROWS_WORTH_A_THREAD)
    {
        struct examination exam;
        struct error own_error;
        const bool ready = examination_start(problem, ties, &exam, &own_error);
        bool right = ready;

#pragma omp for schedule(static)
        for (int64_t token = 0; token < problem->num_tokens; token++)
            if (right && !row_is_right(&exam, buffers, token))
                right = false;

#pragma omp critical
        if (!ready) {
            all_ready = false;
            *error = own_error;
        } else if (!right && (all_right || exam.failure.token < failure->token)) {
            all_right = false;
            *failure = exam.failure;
        }
        examination_end(&exam);
    }
    return all_ready && (all_right || set_error(failure, error));
}
