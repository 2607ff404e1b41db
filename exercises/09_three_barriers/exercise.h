/** @file exercise.h  09_three_barriers: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32, THREADS = 1024 };

/**
 * Computes where each expert's group begins, for several lists of counts. One block scans the lists one after the
 * other.
 *
 * @param counts       [num_lists, num_experts]: the number of slots of each expert's group; a list's sum is below 2^31
 * @param num_lists    at least 1
 * @param num_experts  1 to 1024, one thread per expert
 * @param offsets      [num_lists, num_experts + 1]: the sums of the counts before each expert, then the sum of all
 */
cudaError_t block_scan_launch(const int32_t *counts, int num_lists, int num_experts, int32_t *offsets);

#ifdef __cplusplus
}
#endif

#endif
