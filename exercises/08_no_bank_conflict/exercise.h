/** @file exercise.h  08_no_bank_conflict: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The sizes: the first step of the up-sweep has one thread for every two leaves. */
enum { THREADS = 1024, MAX_LEAVES = 2 * THREADS };

/** Returns the number of words of shared memory for a tree of `num_leaves` numbers. */
int tree_words(int num_leaves);

/**
 * Computes exclusive prefix sums: for each count, the sum of the counts before it.
 *
 * @param counts      [num_leaves]
 * @param num_leaves  a power of two, 2 to MAX_LEAVES
 * @param sums        [num_leaves]
 */
cudaError_t exclusive_scan_launch(const int *counts, int num_leaves, int *sums);

#ifdef __cplusplus
}
#endif

#endif
