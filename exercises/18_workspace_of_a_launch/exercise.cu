/**
 * @file exercise.cu
 * @brief 18_workspace_of_a_launch: which launches may share a workspace, through which their blocks exchange words.
 *
 * This exercise consists of host code only. Change it between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

/** A workspace. Either no call has used it yet, or only calls of one kind have used it. */
struct workspace {
    int num_experts;
    bool taken;
    int stream, capture; /**< stream and capture of the calls that use the workspace, once it is taken */
};

static struct workspace workspaces[MAX_WORKSPACES];
static int num_workspaces;

/** Allocates workspaces for a number of experts. Must not be called during a capture. */
static void allocate(int count, int num_experts)
{
    for (int i = 0; i < count && num_workspaces < MAX_WORKSPACES; i++)
        workspaces[num_workspaces++] = {num_experts, false, 0, 0};
}

/** Counts the workspaces for this number of experts that no call has taken. */
static int count_spare(int num_experts)
{
    int count = 0;

    for (int i = 0; i < num_workspaces; i++)
        count += workspaces[i].num_experts == num_experts && !workspaces[i].taken;
    return count;
}

/**
 * Returns the index of the call's workspace: that of earlier calls of the same kind, else a spare one; -1 if there is
 * none.
 */
static int take(const struct workspace_call *call)
{
    // TODO take
    // Two launches that may run concurrently must not share a workspace. What must match besides the stream?
    for (int i = 0; i < num_workspaces; i++)
        if (workspaces[i].taken && workspaces[i].stream == call->stream)
            return i;
    for (int i = 0; i < num_workspaces; i++)
        if (!workspaces[i].taken) {
            workspaces[i] = {call->num_experts, true, call->stream, call->capture};
            return i;
        }
    return -1;
    // END take
}

/** Makes a call. Returns the number of its workspace. */
static int make_call(const struct workspace_call *call)
{
    int number = take(call);

    // TODO provide
    // Captures take spare workspaces. Outside of captures, make sure that there are enough: allocate
    // WORKSPACES_PER_ALLOCATION more as soon as fewer than MIN_SPARE_WORKSPACES are left.
    if (number < 0 && count_spare(call->num_experts) == 0)
        allocate(1, call->num_experts);
    // END provide
    return number < 0 ? take(call) : number;
}

struct workspace_call_results make_workspace_calls(const struct workspace_call *calls, int num_calls)
{
    struct workspace_call_results results;

    num_workspaces = 0;
    for (int i = 0; i < num_calls; i++) {
        const int before = num_workspaces;

        results.workspace_index[i] = (int8_t)make_call(&calls[i]);
        results.num_allocated[i] = (int8_t)(num_workspaces - before);
    }
    return results;
}
