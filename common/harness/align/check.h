/** @file align/check.h  Is an answer to an align problem right? */
#ifndef ALIGN_CHECK_H
#define ALIGN_CHECK_H

#include "harness/align/reference.h"

/**
 * The byte that fills outputs before a launch. As a word it is below -1, so it is right nowhere; the poison of other
 * buffers is -1 as a word, which is what expert_ids hold past the last block.
 */
enum { ALIGN_POISON = 0xa5 };

/**
 * Checks every element of the three outputs: every position whose id names an expert once, in that expert's blocks and
 * before their pads; numel everywhere else; the (mapped) expert of every block, -1 past the last. With `ascending` the
 * positions of a group must ascend. All arrays are host memory, checked problem and map; nothing else is trusted.
 * False, as RUN_WRONG, with the first failure (num_tokens_post_padded first, then expert_ids, then sorted_token_ids) as
 * one line, "expert_ids[3] (block 3, of expert 1): RULE; expected ..., got ..."; or as RUN_NO_DEVICE when memory is
 * short or the capacity holds no right answer.
 */
bool align_check(const struct align_problem *problem, const struct align_buffers *buffers, bool ascending,
                 struct error *error);

#endif
