/**
 * @file exercise.cu
 * @brief 09_exclusive_scan: a warp computes where 32 groups begin, by an exclusive scan of their sizes.
 *
 * An expert's group begins where the previous group ends: at the sum of the counts before it. One thread would need 31
 * additions, one after the other. Lanes that pass their partial sums to each other need only five steps. Write your
 * code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

static const unsigned FULL_MASK = 0xffffffffu;

/** Returns the sum of the values in the lanes below this one, or 0 if there are none. All 32 lanes must call it. */
static __device__ int warp_exclusive_scan(int value)
{
    const int lane = threadIdx.x % WARP_SIZE;

    // TODO warp_exclusive_scan
    // __shfl_up_sync(FULL_MASK, sum, offset) returns the `sum` of the lane `offset` below the calling lane. If there is
    // no such lane, it returns the caller's own `sum`, which must not be added. In the end, `sum` covers the lane
    // itself and all lanes below it. The function must return the sum over only the lanes below it.
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
    // offsets[list * (num_experts + 1) + lane]. Three cases need care. The last block may have warps without a list.
    // With fewer than 32 experts, some lanes have no expert: they must not return, but contribute a value that changes
    // no sum. The last element of a list's offsets, after its last expert, is the sum of all counts.
    // END kernel
}

cudaError_t exclusive_scan_launch(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets)
{
    enum { WARPS = 4 };

    exclusive_scan_kernel<<<(num_lists + WARPS - 1) / WARPS, WARPS * WARP_SIZE>>>(counts, num_lists, num_experts,
                                                                                  offsets);
    return cudaGetLastError();
}
