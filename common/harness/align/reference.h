/** @file align/reference.h  Align's reference answer, computed serially on the host, for checkers and loaders. */
#ifndef ALIGN_REFERENCE_H
#define ALIGN_REFERENCE_H

#include "base/error.h"
#include "harness/align/align.h"

/** Where the experts' groups begin, and how many ids each has; the ids themselves are not stored. */
struct align_group_layout {
    int64_t *counts;         /**< [num_experts] number of ids of each expert */
    int64_t *offsets;        /**< [num_experts + 1] start of each expert's group, followed by the padded length */
    int64_t num_invalid_ids; /**< number of ids that name no expert */
};

/**
 * Counts the ids of each expert and computes the offsets. The capacity is not used, so the problem need only have
 * passed align_shape_check(). align_group_layout_free() frees the groups. If memory runs out, frees everything and
 * returns false.
 */
bool align_group_layout_compute(const struct align_problem *problem, const void *topk_ids,
                                struct align_group_layout *groups, struct error *error);
void align_group_layout_free(struct align_group_layout *groups);

/** Returns the padded length: the number of slots that these ids need. */
int64_t align_required_capacity(const struct align_problem *problem, const struct align_group_layout *groups);

/**
 * Checks that the capacity suffices for these ids. If it does not, the error names --capacity and the number of slots
 * needed.
 */
bool align_capacity_check(const struct align_problem *problem, const struct align_group_layout *groups,
                          struct error *error);

/** Returns the expert with the most ids; ties go to the lowest expert. */
int align_busiest_expert(const struct align_problem *problem, const struct align_group_layout *groups);

/**
 * Fills the outputs with the correct answer in which the positions of each group ascend. All arrays are in host memory.
 * Returns false if out of memory or if the capacity is too small.
 */
bool align_reference_compute(const struct align_problem *problem, const struct align_buffers *buffers,
                             struct error *error);

#endif
