/** @file paths.h  Chapter 12: the two ways to bring tokens to experts and results back, stage by stage. */
#ifndef PATHS_H
#define PATHS_H

#include "arrays.h"

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
    struct moe_step experts;           /**< the chapter that computes them */
    struct lists *lists;
    struct operands *arrays;
    bool has_times;
    int repeat; /**< 0, 1, ... below MAX_REPEATS: times are kept of each */
    int num_stages;
    struct stage stages[MAX_STAGES];
    cudaEvent_t begin, end;
};

/** The source's: every rank gets all tokens; sums are added in the DP group, then in the TP group. */
bool run_broadcast(struct parallel_layer *layer, struct error *error);

/** A token goes to the ranks that have its experts, and their sums come back. */
bool run_all_to_all(struct parallel_layer *layer, struct error *error);

#endif
