/** @file exercise.h  08_up_sweep: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The sizes: the first step of the up-sweep has one thread for every two leaves. */
enum { THREADS = 1024, MAX_LEAVES = 2 * THREADS };

/**
 * Adds up the counts in a tree, from the leaves to the root, in place.
 *
 * @param counts      [num_leaves]: the leaves
 * @param num_leaves  a power of two, 1 to MAX_LEAVES
 * @param sums        [num_leaves]: the tree's words after the up-sweep
 */
cudaError_t up_sweep_launch(const int *counts, int num_leaves, int *sums);

#ifdef __cplusplus
}
#endif

#endif
