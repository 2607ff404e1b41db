/** @file mark_blocks.h  Marks in a function where the source's blocks begin. */
#ifndef SIMT_REWRITER_MARK_BLOCKS_H
#define SIMT_REWRITER_MARK_BLOCKS_H

#include "source.h"

/**
 * Inserts a mark wherever, in the function whose body's `{` is at `at`, lanes may part or come together again. False,
 * and a message is printed, if there is no memory.
 */
bool mark_blocks(struct source *source, size_t at);

#endif
