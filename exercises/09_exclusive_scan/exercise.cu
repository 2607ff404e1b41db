/**
 * @file exercise.cu
 * @brief 09_exclusive_scan: the beginnings of 32 groups, added up by a warp.
 *
 * An expert's group begins where the groups before it end: at the sum of their counts. One thread would need 31
 * additions, one after the other. Lanes that pass each other their sums so far need five steps. Write your code between
 * // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

static const unsigned FULL_MASK = 0xffffffffu;

/** Returns the sum of the values of the lanes below this one; of none, 0. All 32 lanes call. */
static __device__ int warp_exclusive_scan(int value)
{
    const int lane = threadIdx.x % WARP_SIZE;

    // TODO warp_exclusive_scan
    // __shfl_up_sync(FULL_MASK, sum, offset) gives each lane the `sum` of the lane `offset` below it. A lane that has
    // no lane so far below gets its own back, and must not add it.
    // In the end every lane knows the sum of all lanes up to itself. You are asked for the sum before it.
    return lane;
    // END warp_exclusive_scan
}

/** Scans all lists. Grid: enough blocks for all lists. Block: four warps, each with its own list. */
static __global__ void exclusive_scan_kernel(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets)
{
    const int lane = threadIdx.x % WARP_SIZE;
    const int list = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;

    // TODO kernel
    // Give each lane its expert's count, call warp_exclusive_scan(), and write its result to
    // offsets[list * (num_experts + 1) + lane]. Mind three things. The last block may have warps without a list. With
    // fewer than 32 experts some lanes have none: they stay, and add a value that changes no sum. And the last element
    // of a list, after its last expert, is the sum of all counts.
    // END kernel
}

cudaError_t exclusive_scan_launch(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets)
{
    enum { WARPS = 4 };

    exclusive_scan_kernel<<<(num_lists + WARPS - 1) / WARPS, WARPS * WARP_SIZE>>>(counts, num_lists, num_experts,
                                                                                  offsets);
    return cudaGetLastError();
}
