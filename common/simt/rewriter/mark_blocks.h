/** @file mark_blocks.h  The marks at the beginning of basic blocks, which position.c inserts into each function. */
#ifndef SIMT_REWRITER_MARK_BLOCKS_H
#define SIMT_REWRITER_MARK_BLOCKS_H

#include "source.h"

/**
 * Inserts a mark wherever lanes may diverge or reconverge in the function whose body's `{` is at `at`. Returns false,
 * after an error message, without memory.
 */
bool mark_blocks(struct source *source, size_t at);

#endif
