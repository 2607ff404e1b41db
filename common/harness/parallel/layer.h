/** @file parallel/layer.h  A layer on this rank: its run, stage by stage, with what each stage moved and its time. */
#ifndef PARALLEL_LAYER_H
#define PARALLEL_LAYER_H

#include "harness/parallel/arrays.h"

enum { MAX_STAGES = 12, MAX_REPEATS = 100 };

/** What a stage did, in this rank. Bytes and bandwidths are as nccl-tests defines them. */
struct stage {
    const char *name, *by; /**< by whom: a collective, or a chapter's kernels */
    int ranks;             /**< of the group; 0: no collective */
    double bytes;          /**< of the collective's array: what is there when all parts are together */
    double factor;         /**< of the algorithm's bandwidth, for that of the bus */
    double received;       /**< bytes from other ranks, at the least */
    double times[MAX_REPEATS], us;
};

/** A layer on this rank, ready to run. */
struct parallel_layer {
    struct ranks *ranks;
    struct group dp, tp;
    const struct split *split;
    const struct moe_problem *problem; /**< as this rank's kernels see it, with all tokens */
    struct moe_implementation experts; /**< the chapter that computes them */
    struct lists *lists;
    struct tensors *arrays;
    bool has_times;
    int repeat; /**< 0, 1, ... below MAX_REPEATS: times are kept of each */
    int num_stages;
    struct stage stages[MAX_STAGES];
    cudaEvent_t begin, end;
};

/** One way to bring tokens to experts and results back: from OWN_HIDDEN, SENT_IDS and SENT_WEIGHTS to RESULT. */
typedef bool parallel_path(struct parallel_layer *layer, struct error *error);

/** Begins a stage; its time begins when all ranks have come. */
bool stage_begin(struct parallel_layer *layer, const char *name, struct error *error);

/** Ends it: waits until the device is done, and keeps what it was and its time. */
bool stage_end(struct parallel_layer *layer, struct stage stage, struct error *error);

/** The stage that a collective was: of `bytes` in all, of which this rank had `own`. */
struct stage stage_moved(const char *by, const struct group *group, double bytes, double own);

/** An all-reduce: every rank must send, and receive, all but its share twice: once to be added, once the sums. */
struct stage stage_reduced(const struct group *group, double bytes);

/** Runs the layer: once, or on a GPU `repeats` times more; the times of the first run do not count. */
bool layer_run(struct parallel_layer *layer, parallel_path *path, int repeats, struct error *error);

/** Makes the stages those of all ranks: the longest time, the most bytes, and the bytes that all of them received. */
bool layer_sum_stages(struct parallel_layer *layer, struct error *error);

#endif
