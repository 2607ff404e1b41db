/** @file exercise.h  10_predict_the_fill: the interface between the exercise and its grader. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_runtime.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARP_SIZE = 32, THREADS = 1024, NUM_EXPERTS = 256, SLOTS_PER_FILL_BLOCK = 16 * THREADS };

/** The launch whose counters the learner predicts: 100 tokens of 8 ids each, and blocks of 64. */
enum { SHOWN_NUMEL = 800, SHOWN_CAPACITY = 16960 };

/** A forecast of a launch's counters. */
struct fill_counters_forecast {
    int64_t store_requests; /**< number of requests to global memory from store instructions, not from atomics */
    int64_t store_sectors;  /**< total number of 32-byte sectors that these requests access */
    int64_t store_bytes;    /**< number of bytes of sorted_token_ids that are written */
    int64_t block_barriers; /**< number of barriers that each block reached, summed over the blocks */
};

/** Returns the learner's forecast of the launch with SHOWN_NUMEL ids and SHOWN_CAPACITY slots. */
struct fill_counters_forecast forecast_counters_of_shown_launch(void);

/**
 * Returns the learner's forecast of any launch.
 *
 * @param capacity  a multiple of 4, at least 4; sorted_token_ids begins on a 32-byte boundary
 */
struct fill_counters_forecast forecast_counters_for_capacity(int64_t capacity);

/**
 * Counts the ids of each expert and writes a pad to every slot. Block 0 counts; the other blocks write the pads.
 *
 * @param topk_ids          [numel]; ids outside 0 .. NUM_EXPERTS - 1 are skipped
 * @param numel             at least 0; also the pad's value
 * @param capacity          at least 0
 * @param counts            [NUM_EXPERTS], 0 before the launch
 * @param sorted_token_ids  [capacity]; only 4-byte aligned
 */
cudaError_t count_and_fill_launch(const int32_t *topk_ids, int numel, int capacity, int32_t *counts,
                                  int32_t *sorted_token_ids);

#ifdef __cplusplus
}
#endif

#endif
