/** @file line_diff.h  What diff(1) says of two files. */
#ifndef LINE_DIFF_H
#define LINE_DIFF_H

#include "harness/core/error.h"

/** A line of either file or of both. */
struct diff_line {
    char kind;         /**< ' ' is in both, '-' only in the first, '+' only in the second */
    int before, after; /**< its number there, from 1; 0 where it is not */
};

struct line_diff {
    struct diff_line *lines;
    int num_lines;
};

/** Runs GNU diff. Files that are the same have no lines at all. Returns false, with nothing to free, if it fails. */
bool line_diff_run(const char *before, const char *after, struct line_diff *diff, struct error *error);

void line_diff_free(struct line_diff *diff);

#endif
