/**
 * @file workspace.c
 * @brief Chapter 18: a workspace for each stream and each capture, found by searching a short list.
 */
#include "workspace.h"

#include "../15_one_launch/exchange.h"

#include <pthread.h>
#include <stdlib.h>

// [workspace]
/** A workspace. It is zeroed before its first launch. */
struct workspace {
    char *memory;
    int device, num_experts;
    int taken;                  /**< 1: in use by `stream`, in `capture` */
    unsigned long long capture; /**< the capture's id; 0: outside a capture */
    cudaStream_t stream;
};
// [workspace]

/** A call outside a capture allocates more workspaces if fewer than MIN_SPARE_WORKSPACES are unused. */
enum { WORKSPACES_PER_ALLOCATION = 8, MIN_SPARE_WORKSPACES = 4 };

static struct {
    pthread_mutex_t mutex;
    struct workspace *workspace;
    size_t count;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static size_t workspace_bytes(int num_experts)
{
    const struct align_problem problem = {.num_experts = num_experts};

    return (LAYER_COUNTER_BYTES + EXCHANGE_BYTES + align_exchange_bytes(&problem) + 255) / 256 * 256;
}

/** Finds the id of the capture that a stream is part of, or 0 if there is none. */
static cudaError_t capture_of(cudaStream_t stream, unsigned long long *capture)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long number = 0;
#if CUDART_VERSION >= 13000
    const cudaError_t error = cudaStreamGetCaptureInfo(stream, &status, &number, NULL, NULL, NULL, NULL);
#else
    const cudaError_t error = cudaStreamGetCaptureInfo(stream, &status, &number, NULL, NULL, NULL);
#endif

    *capture = status == cudaStreamCaptureStatusActive ? number : 0;
    return error;
}

/** Adds WORKSPACES_PER_ALLOCATION workspaces to the list and waits until they are zeroed. */
static cudaError_t add_workspaces(int device, int num_experts)
{
    const size_t bytes = workspace_bytes(num_experts);
    struct workspace *const more = realloc(all.workspace, (all.count + WORKSPACES_PER_ALLOCATION) * sizeof *more);
    char *memory = NULL;

    if (!more)
        return cudaErrorMemoryAllocation;
    all.workspace = more;
    cudaError_t status = cudaMalloc((void **)&memory, WORKSPACES_PER_ALLOCATION * bytes);

    if (status == cudaSuccess)
        status = cudaMemset(memory, 0, WORKSPACES_PER_ALLOCATION * bytes);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize(); /* needed because other streams do not wait for the memset */
    if (status != cudaSuccess) {
        cudaFree(memory);
        return status;
    }
    for (int i = 0; i < WORKSPACES_PER_ALLOCATION; i++)
        all.workspace[all.count++] = (struct workspace){memory + i * bytes, device, num_experts, 0, 0, NULL};
    return cudaSuccess;
}

// [take]
/**
 * Returns the workspace of this stream and capture, else an unused one, or NULL. Sets *left to the number of unused
 * workspaces.
 */
static char *take(cudaStream_t stream, int device, int num_experts, unsigned long long capture, int *left)
{
    struct workspace *found = NULL, *unused = NULL;

    *left = 0;
    for (size_t i = 0; i < all.count; i++) {
        struct workspace *const one = &all.workspace[i];

        if (one->device != device || one->num_experts != num_experts)
            continue;
        if (one->taken && one->stream == stream && one->capture == capture)
            found = one;
        unused = one->taken || unused ? unused : one;
        *left += !one->taken;
    }
    if (!found && unused) {
        *unused = (struct workspace){unused->memory, device, num_experts, 1, capture, stream};
        --*left;
        found = unused;
    }
    return found ? found->memory : NULL;
}

cudaError_t workspace_find_or_allocate(cudaStream_t stream, int device, int num_experts, char **memory)
{
    unsigned long long capture;
    cudaError_t status = capture_of(stream, &capture);
    int left;

    if (status != cudaSuccess)
        return status;
    pthread_mutex_lock(&all.mutex);
    *memory = take(stream, device, num_experts, capture, &left); /* also counts the unused workspaces */
    if (!capture && left < MIN_SPARE_WORKSPACES)
        status = add_workspaces(device, num_experts);
    if (status == cudaErrorMemoryAllocation && *memory) { /* this call has a workspace and needs no spare ones */
        cudaGetLastError(); /* clears the error, which the launch would otherwise return */
        status = cudaSuccess;
    }
    if (status == cudaSuccess && !*memory) /* none was unused; now there may be new ones */
        *memory = take(stream, device, num_experts, capture, &left);
    pthread_mutex_unlock(&all.mutex);
    return status == cudaSuccess && !*memory ? cudaErrorStreamCaptureUnsupported : status;
}
// [take]
