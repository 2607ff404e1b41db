/** @file exercise.h  18_workspace_of_a_launch: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MAX_CALLS = 24, MAX_WORKSPACES = 64, WORKSPACES_PER_ALLOCATION = 8, MIN_SPARE_WORKSPACES = 4 };

/** A call that launches a kernel that needs a workspace. */
struct workspace_call {
    int stream;
    int capture; /**< number of the capture that the stream is in; 0 if none */
    int num_experts;
};

/** The results of several calls, in the order of the calls. */
struct workspace_call_results {
    int8_t workspace_index[MAX_CALLS]; /**< index of the call's workspace, from 0; -1 if none was left */
    int8_t num_allocated[MAX_CALLS];   /**< number of workspaces that were allocated during the call */
};

/** Makes the calls one after another, starting without any workspace. `num_calls` is at most MAX_CALLS. */
struct workspace_call_results make_workspace_calls(const struct workspace_call *calls, int num_calls);

#ifdef __cplusplus
}
#endif

#endif
