/** @file figure_blocks.h  A picture of what align makes: the tokens' choices, grouped by expert in padded blocks. */
#ifndef FIGURE_BLOCKS_H
#define FIGURE_BLOCKS_H

#include "harness/core/error.h"

#include <stdio.h>

/**
 * Draws sorted_token_ids.npy, expert_ids.npy and num_tokens_post_padded.npy of a directory, as an align program writes them
 * with --out: at most 32 places and 7 experts, at least one pad. Returns false with the reason.
 */
bool figure_blocks(FILE *out, const char *directory, struct error *error);

#endif
