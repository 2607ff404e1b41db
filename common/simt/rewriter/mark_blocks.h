/** @file mark_blocks.h  Inserts the marks at the beginning of basic blocks; called by position.c for each function. */
#ifndef SIMT_REWRITER_MARK_BLOCKS_H
#define SIMT_REWRITER_MARK_BLOCKS_H

#include "source.h"

/**
 * Inserts a mark wherever lanes may diverge or reconverge in the function whose body's `{` is at `body_begin`. Returns
 * false after an error message if out of memory.
 */
bool mark_basic_blocks_of_function(struct source *source, size_t body_begin);

#endif
