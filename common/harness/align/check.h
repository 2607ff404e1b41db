/** @file align/check.h  The checker of align's outputs, for programs and tests. */
#ifndef ALIGN_CHECK_H
#define ALIGN_CHECK_H

#include "harness/align/reference.h"

/**
 * The byte that fills outputs before a launch (poison). As a word, it is below -1 and never a correct answer. The
 * poison of other buffers is unsuitable: as a word it is -1, which is correct in expert_ids past the last block.
 */
enum { ALIGN_POISON = 0xa5 };

/**
 * Checks every element of the three outputs: every position whose id names an expert occurs once, in that expert's
 * blocks and before their pads; every other slot holds numel; expert_ids has the (mapped) expert of every block, and -1
 * past the last. With `ascending`, the positions of a group must ascend. All arrays are in host memory. The problem and
 * the map must have been checked, but the outputs may hold anything. If an output is wrong, returns false and RUN_WRONG
 * with the first failure (num_tokens_post_padded first, then expert_ids, then sorted_token_ids) as one line,
 * "expert_ids[3] (block 3, of expert 1): RULE; expected ..., got ...". If out of memory, or if the capacity is too
 * small for a correct answer, returns false and RUN_NO_DEVICE.
 */
bool align_check(const struct align_problem *problem, const struct align_buffers *buffers, bool ascending,
                 struct error *error);

#endif
