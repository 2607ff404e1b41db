/** @file figure_split.h  A picture of a warp whose lanes part at an `if`, beside one that selects. */
#ifndef FIGURE_SPLIT_H
#define FIGURE_SPLIT_H

#include "source_text.h"
#include "trace.h"

#include <stdio.h>

/**
 * Draws which lanes take the other candidate in the steps of a warp's first butterfly, in chapters 02 and 03. Returns false
 * with the reason if a trace has no such butterfly, or the two do not take the same.
 */
bool figure_split(FILE *out, const struct trace traces[2], const struct source_text sources[2], struct error *error);

#endif
