/** @file align/reference.h  What align's right answer is: counting, a sum, a list, one id after the other. */
#ifndef ALIGN_REFERENCE_H
#define ALIGN_REFERENCE_H

#include "base/error.h"
#include "harness/align/align.h"

/** Where each expert's group lies, for some ids. */
struct align_groups {
    int64_t *counts;  /**< [num_experts] ids of each expert */
    int64_t *offsets; /**< [num_experts + 1] where its group begins; the last one is the padded size */
    int64_t skipped;  /**< ids that name no expert */
};

/**
 * Counts the ids. The capacity plays no part, so a problem that passed align_shape_check() will do. align_groups_free()
 * frees the groups. False, owning nothing, when memory is short.
 */
bool align_groups_count(const struct align_problem *problem, const void *topk_ids, struct align_groups *groups,
                        struct error *error);
void align_groups_free(struct align_groups *groups);

/** The places that these ids need: the padded size. */
int64_t align_required_capacity(const struct align_problem *problem, const struct align_groups *groups);

/** False, naming --capacity and what these ids need, if the problem's capacity is smaller. */
bool align_capacity_check(const struct align_problem *problem, const struct align_groups *groups, struct error *error);

/** The expert that has most ids, the lowest of them if several do. */
int align_busiest_expert(const struct align_problem *problem, const struct align_groups *groups);

/**
 * Fills the outputs, which are host memory as the inputs are: an answer whose positions ascend inside each group. False
 * when memory is short or the capacity is.
 */
bool align_reference_compute(const struct align_problem *problem, const struct align_buffers *buffers,
                             struct error *error);

#endif
