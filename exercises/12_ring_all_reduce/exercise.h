/** @file exercise.h  12_ring_all_reduce: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { THREADS = 64 };

/**
 * Adds up the arrays of several ranks, element by element; every rank gets all sums.
 *
 * @param sums               [num_ranks, elements_per_rank] the ranks' arrays, one after the other; changed in place
 * @param num_ranks          at least 1
 * @param elements_per_rank  a multiple of num_ranks
 */
cudaError_t all_reduce_launch(float *sums, int num_ranks, int elements_per_rank);

#ifdef __cplusplus
}
#endif

#endif
