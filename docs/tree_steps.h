/** @file tree_steps.h  What words of shared memory held at each block barrier, read from a kernel's trace. */
#ifndef TREE_STEPS_H
#define TREE_STEPS_H

#include "harness/core/error.h"

#include <stdio.h>

enum { TREE_MAX_WORDS = 64 };

/** Words of dynamic shared memory: `count` of them, 1 to TREE_MAX_WORDS, from number `first` on. */
struct tree_range {
    int first, count;
};

/** Reads "0-7". Returns false with the reason. */
bool tree_range_parse(const char *text, struct tree_range *range, struct error *error);

/**
 * Writes a line for every block barrier before which one of the words had changed, and one for the end if one has changed
 * since: the words as signed numbers, "-" where nothing was written yet, "?" where an atomic's result was never read. `trace` is
 * a file as simt_trace_end() writes it. Returns false with one line that names it and says what is wrong.
 */
bool tree_steps_write(FILE *out, const char *trace, struct tree_range range, struct error *error);

#endif
