/**
 * @file exercise.cu
 * @brief 08_up_sweep: the up-sweep of Blelloch's scan.
 *
 * The tree is in shared memory. Its leaves are counts; its last word must become the sum of all counts. Write your code
 * between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

/** Adds up the tree. Grid: one block. Block: THREADS. */
static __global__ void up_sweep_kernel(const int *counts, int num_leaves, int *sums)
{
    __shared__ int tree[MAX_LEAVES];
    const int thread = threadIdx.x;

    for (int i = thread; i < num_leaves; i += THREADS)
        tree[i] = counts[i];
    __syncthreads();

    // TODO up
    // In the step with `stride` 1, the preceding word is added to each of the words 1, 3, 5, ...; in the step with
    // stride 2, the word two positions before is added to words 3, 7, 11, ...; and so on, until the last word holds the
    // total. Which words does this thread update? Which threads must wait for which other threads, and when?
    // END up

    for (int i = thread; i < num_leaves; i += THREADS)
        sums[i] = tree[i];
}

cudaError_t up_sweep_launch(const int *counts, int num_leaves, int *sums)
{
    up_sweep_kernel<<<1, THREADS>>>(counts, num_leaves, sums);
    return cudaGetLastError();
}
