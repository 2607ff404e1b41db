/** @file figure_tree.h  A picture of sums that move through words of shared memory from barrier to barrier. */
#ifndef FIGURE_TREE_H
#define FIGURE_TREE_H

#include "trace.h"

#include <stdio.h>

/**
 * Draws the first `count` words of dynamic shared memory, at most 16: before the first barrier interval in which one of
 * them becomes the sum of two, and after each interval from there on that stores to them, with arrows from the words that
 * a new value was made of. Returns false with the reason.
 */
bool figure_tree(FILE *out, const struct trace *trace, int count, struct error *error);

#endif
