/**
 * @file exercise.cu
 * @brief 00_own_element: multiplies every weight by a factor, with one thread per weight.
 *
 * The grid has one thread per element, so no loop over the elements is needed. Write your code between // TODO and
 * // END; leave the rest unchanged.
 */
#include "exercise.h"

/** Scales the weights. Grid: num_blocks(count). Block: THREADS. */
static __global__ void scale_kernel(const float *weights, int count, float factor, float *scaled)
{
    // TODO kernel
    // Compute scaled[i] = weights[i] * factor. Which element i belongs to this thread? threadIdx.x starts at 0 in every
    // block, and the grid may have more threads than there are elements.
    // END kernel
}

/** Returns the number of blocks for `count` elements. */
static int num_blocks(int count)
{
    // TODO blocks
    // Every element needs a thread, and every block must have at least one element.
    return 1;
    // END blocks
}

cudaError_t scale_launch(const float *weights, int count, float factor, float *scaled)
{
    scale_kernel<<<num_blocks(count), THREADS>>>(weights, count, factor, scaled);
    return cudaGetLastError();
}
