/**
 * @file grader.c
 * @brief 18_workspace_of_a_launch: checks that calls of the same kind share a workspace and that other calls do not.
 */
#include "exercise.h"
#include "../grade/grade.h"

#include <stdio.h>

/** Describes a call: "call 3 (stream 1 in capture 2, 256 experts)". */
static const char *name_of(char text[96], const struct workspace_call *calls, int i)
{
    char capture[32] = "";

    if (calls[i].capture)
        snprintf(capture, sizeof capture, " in capture %d", calls[i].capture);
    snprintf(text, 96, "call %d (stream %d%s, %d experts)", i + 1, calls[i].stream, capture, calls[i].num_experts);
    return text;
}

/** Returns why two calls must not share a workspace, or NULL if they must share one. */
static const char *reason_apart(const struct workspace_call *a, const struct workspace_call *b)
{
    if (a->stream != b->stream)
        return "launches on two streams may run at the same time";
    if (a->capture != b->capture)
        return "a graph may be replayed while other launches run";
    return a->num_experts != b->num_experts ? "rows have another length" : NULL;
}

static void check_pair(struct grade_context *grade, const struct workspace_call *calls,
                       const struct workspace_call_results *got, int i, int j)
{
    const char *const reason = reason_apart(&calls[i], &calls[j]);
    const bool same = got->workspace_index[i] == got->workspace_index[j];
    char one[96], other[96];

    if (reason && same)
        grade_fail(grade, "%s has workspace %d, and so has %s: %s", name_of(one, calls, j), got->workspace_index[j],
                   name_of(other, calls, i), reason);
    if (!reason && !same)
        grade_fail(grade, "%s has workspace %d, expected %d, in which %s has left its words", name_of(one, calls, j),
                   got->workspace_index[j], got->workspace_index[i], name_of(other, calls, i));
}

/** Makes the calls and checks the results; at most `most` workspaces may be allocated. */
static void check(struct grade_context *grade, const struct workspace_call *calls, int num_calls, int most)
{
    struct workspace_call_results got;
    char name[96];
    int allocated = 0;

    grade_describe_input(grade, "%d calls", num_calls);
    GRADE_CALL_AND_FETCH_RESULT(grade, &got, make_workspace_calls(calls, num_calls));
    for (int j = 0; j < num_calls; j++) {
        allocated += got.num_allocated[j];
        if (calls[j].capture && got.num_allocated[j] != 0)
            grade_fail(grade, "%s: %d workspaces were allocated in a capture, expected 0", name_of(name, calls, j),
                       got.num_allocated[j]);
        if (got.workspace_index[j] < 0 || got.workspace_index[j] >= allocated)
            grade_fail(grade, "%s: it has no workspace, and %d were allocated", name_of(name, calls, j), allocated);
        for (int i = 0; i < j; i++)
            check_pair(grade, calls, &got, i, j);
    }
    if (allocated > most)
        grade_fail(grade, "workspaces: %d were allocated, at most %d are needed", allocated, most);
}

static void one_stream(struct grade_context *grade)
{
    static const struct workspace_call calls[] = {{1, 0, 256}, {1, 0, 256}, {1, 0, 256}};

    check(grade, calls, 3, WORKSPACES_PER_ALLOCATION);
}

static void two_streams(struct grade_context *grade)
{
    static const struct workspace_call calls[] = {{1, 0, 256}, {2, 0, 256}, {1, 0, 256}, {2, 0, 256}};

    check(grade, calls, 4, WORKSPACES_PER_ALLOCATION);
}

static void two_captures(struct grade_context *grade)
{
    static const struct workspace_call calls[] = {{1, 0, 256}, {1, 1, 256}, {1, 1, 256},
                                                  {1, 2, 256}, {1, 0, 256}, {2, 0, 256}};

    check(grade, calls, 6, WORKSPACES_PER_ALLOCATION);
}

static void two_models(struct grade_context *grade)
{
    static const struct workspace_call calls[] = {{1, 0, 256}, {1, 0, 128}, {1, 1, 128},
                                                  {1, 0, 256}, {1, 2, 256}, {1, 0, 128}};

    check(grade, calls, 6, 2 * WORKSPACES_PER_ALLOCATION);
}

/** Makes one call on each of 1 to 10 streams outside captures, then one in each of MIN_SPARE_WORKSPACES captures. */
static void enough_for_captures(struct grade_context *grade)
{
    for (int streams = 1; streams <= 10; streams++) {
        struct workspace_call calls[MAX_CALLS];
        int num_calls = 0, captures;

        for (; num_calls < streams; num_calls++)
            calls[num_calls] = (struct workspace_call){num_calls + 1, 0, 256};
        for (captures = 0; captures < MIN_SPARE_WORKSPACES; captures++)
            calls[num_calls++] = (struct workspace_call){1, captures + 1, 256};
        check(grade, calls, num_calls,
              streams + MIN_SPARE_WORKSPACES <= WORKSPACES_PER_ALLOCATION ? WORKSPACES_PER_ALLOCATION
                                                                          : 2 * WORKSPACES_PER_ALLOCATION);
    }
}

static void any_calls(struct grade_context *grade)
{
    struct workspace_call calls[MAX_CALLS] = {{0, 0, 64}, {0, 0, 65}};

    for (int round = 0; round < 4; round++) {
        for (int i = 2; i < MAX_CALLS; i++)
            calls[i] = (struct workspace_call){(int)random_below(grade_random(grade), 2),
                                               (int)random_below(grade_random(grade), 3),
                                               64 + (int)random_below(grade_random(grade), 2)};
        check(grade, calls, MAX_CALLS, 4 * WORKSPACES_PER_ALLOCATION);
    }
}

const struct grade_case grade_cases[] = {
    {"one_stream", one_stream, false},     {"two_streams", two_streams, false},
    {"two_captures", two_captures, false}, {"two_models", two_models, false},
    {"any_calls", any_calls, false},       {"enough_for_captures", enough_for_captures, false},
};
const int num_grade_cases = sizeof grade_cases / sizeof *grade_cases;
