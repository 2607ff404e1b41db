/** @file align/check.h  The checker of align's outputs, for programs and tests. */
#ifndef ALIGN_CHECK_H
#define ALIGN_CHECK_H

#include "harness/align/reference.h"

/**
 * The poison byte, which fills the outputs before a launch. A word of poison is below -1 and never a correct answer.
 * The other buffers' poison is unsuitable here: as a word it is -1, the correct value in expert_ids past the last
 * block.
 */
enum { ALIGN_POISON_BYTE = 0xa5 };

/**
 * Checks every element of the three outputs: each position whose id names an expert occurs exactly once, in that
 * expert's blocks and before their padding; every other slot holds numel; expert_ids holds the (mapped) expert of every
 * block, and -1 past the last block. If `ascending` is set, the positions of each group must ascend. All arrays are in
 * host memory. The problem and the map must already have been checked; the outputs may hold any values. If an output is
 * wrong, returns false and sets RUN_WRONG and a one-line description of the first failure (num_tokens_post_padded
 * first, then expert_ids, then sorted_token_ids): "expert_ids[3] (block 3, of expert 1): RULE; expected ..., got ...".
 * If memory runs out or the capacity is too small for a correct answer, returns false and sets RUN_CANNOT_RUN.
 */
bool align_check(const struct align_problem *problem, const struct align_buffers *buffers, bool ascending,
                 struct error *error);

#endif
