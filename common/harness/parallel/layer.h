/** @file parallel/layer.h  Runs the layer on this rank stage by stage, and records each stage's traffic and time. */
#ifndef PARALLEL_LAYER_H
#define PARALLEL_LAYER_H

#include "harness/parallel/arrays.h"

enum { MAX_STAGES = 12, MAX_REPEATS = 100 };

/** A stage's traffic and times on this rank. Bytes and bandwidths are defined as in nccl-tests. */
struct layer_stage {
    const char *name, *performed_by; /**< name of the stage; name of the collective or of the kernels' chapter */
    int num_ranks;                   /**< number of ranks in the group; 0 if the stage is not a collective */
    double array_bytes;              /**< total size of the collective's array in bytes */
    double bus_bandwidth_factor;     /**< ratio of bus bandwidth to algorithm bandwidth */
    double received_bytes;           /**< lower bound on the bytes received from other ranks */
    double times_us[MAX_REPEATS], median_us;
};

/** A layer on this rank, ready to run. */
struct parallel_layer {
    struct rank_context *ranks;
    struct rank_group dp_group, tp_group;
    const struct rank_share *share;
    const struct moe_problem *problem;               /**< problem of this rank's kernels, sized for all tokens */
    struct moe_implementation expert_implementation; /**< the implementation that computes the experts */
    struct exchanged_row_counts *row_counts;
    struct tensors *arrays;
    bool can_measure_times;
    int repeat_index; /**< index of the current run in the stages' `times_us`, below MAX_REPEATS */
    int num_stages;
    struct layer_stage stages[MAX_STAGES];
    cudaEvent_t begin_event, end_event;
};

/**
 * Computes RANK_RESULT from RANK_OWN_HIDDEN, RANK_SENT_IDS and RANK_SENT_WEIGHTS: sends the tokens to their experts,
 * runs these, and returns the results.
 */
typedef bool parallel_layer_function(struct parallel_layer *layer, struct error *error);

/** Begins a stage. Its timing starts when all ranks have arrived. */
bool stage_begin(struct parallel_layer *layer, const char *name, struct error *error);

/** Ends the stage: waits for the device, and stores the stage with its time. */
bool stage_end(struct parallel_layer *layer, struct layer_stage stage, struct error *error);

/**
 * Returns the stage for a collective of `array_bytes` bytes in total, of which `own_part_bytes` belong to this rank.
 */
struct layer_stage describe_collective_stage(const char *collective_name, const struct rank_group *group,
                                             double array_bytes, double own_part_bytes);

/**
 * Returns the stage for an all-reduce: a rank sends and receives all parts except its own twice, first as terms and
 * then as sums.
 */
struct layer_stage describe_all_reduce_stage(const struct rank_group *group, double array_bytes);

/** Runs the layer once and, on a GPU, another `num_timed_runs` times, from whose times the stages' medians are. */
bool parallel_layer_run_and_time(struct parallel_layer *layer, parallel_layer_function *run_layer, int num_timed_runs,
                                 struct error *error);

/** Combines the stages of all ranks: the longest time, the most bytes, and the sum of received bytes. */
bool layer_combine_stages_of_ranks(struct parallel_layer *layer, struct error *error);

#endif
