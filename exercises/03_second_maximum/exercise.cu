/**
 * @file exercise.cu
 * @brief 03_second_maximum: finds a warp's two largest values, but a bug loses the second one.
 *
 * A group's score is the sum of its two best choices. This code finds both choices, except in a case that is very rare
 * with random numbers. Fix the code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

#include <math.h>

static const unsigned FULL_MASK = 0xffffffffu;

/** Returns the two largest of the 32 lanes' values to every lane. All 32 lanes must call it. */
static __device__ two_largest warp_two_largest(float value)
{
    // TODO warp_two_largest
    // The code finds the largest value, removes it, and finds the largest of the rest. Which values does it remove if
    // two lanes hold the largest? Fix the code without adding to its 10 shuffles.
    float first = value;

    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        first = fmaxf(first, __shfl_xor_sync(FULL_MASK, first, offset));

    float second = value == first ? -INFINITY : value;

    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
        second = fmaxf(second, __shfl_xor_sync(FULL_MASK, second, offset));
    return {first, second};
    // END warp_two_largest
}

/**
 * Finds each group's two best choices. Grid: enough blocks for all groups. Block: four warps, each with its own group.
 */
static __global__ void second_maximum_kernel(const float *choice, int num_groups, int experts_per_group,
                                             two_largest *best)
{
    const int lane = threadIdx.x % WARP_SIZE;
    const int group = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;

    /* All lanes of a warp return together. A lane without an expert does not return, because the shuffles need it. */
    if (group >= num_groups)
        return;
    best[group * WARP_SIZE + lane] = warp_two_largest(
        lane < experts_per_group ? choice[group * experts_per_group + lane] : -INFINITY);
}

cudaError_t two_largest_launch(const float *choice, int num_groups, int experts_per_group, two_largest *best)
{
    enum { WARPS = 4 };

    second_maximum_kernel<<<(num_groups + WARPS - 1) / WARPS, WARPS * WARP_SIZE>>>(choice, num_groups,
                                                                                   experts_per_group, best);
    return cudaGetLastError();
}
