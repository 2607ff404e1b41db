/**
 * @file exercise.cu
 * @brief 00_own_element: every weight times a factor, with a thread per weight.
 *
 * The grid has one thread for each element, so there is no loop over the elements. Write your code between // TODO and
 * // END; leave the rest unchanged.
 */
#include "exercise.h"

/** Scales the weights. Grid: num_blocks(count). Block: THREADS. */
static __global__ void scale_kernel(const float *weights, int count, float factor, float *scaled)
{
    // TODO kernel
    // Which element i does this thread compute, scaled[i] = weights[i] * factor? threadIdx.x starts again from 0 in
    // each block. There may be more threads than elements.
    // END kernel
}

/** Returns the number of blocks for `count` elements. */
static int num_blocks(int count)
{
    // TODO blocks
    // Every element needs a thread, but no block may be without an element.
    return 1;
    // END blocks
}

cudaError_t scale_launch(const float *weights, int count, float factor, float *scaled)
{
    scale_kernel<<<num_blocks(count), THREADS>>>(weights, count, factor, scaled);
    return cudaGetLastError();
}
