/** @file exercise.h  08_up_sweep: what the exercise and its grader agree on. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The lowest step has a thread for every two leaves. */
enum { THREADS = 1024, MAX_LEAVES = 2 * THREADS };

/**
 * Adds up the counts by a tree, up to the root, in place.
 *
 * @param counts  [size]: the leaves
 * @param size    a power of two, 1 to MAX_LEAVES
 * @param sums    [size]: what the tree's words hold after the way up
 */
cudaError_t up_sweep_launch(const int *counts, int size, int *sums);

#ifdef __cplusplus
}
#endif

#endif
