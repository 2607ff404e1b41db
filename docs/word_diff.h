/** @file word_diff.h  Which words of changed lines have changed. */
#ifndef WORD_DIFF_H
#define WORD_DIFF_H

#include "code_text.h"

/** Lines `first` to `last` of a file, from 1. */
struct line_range {
    int first, last;
};

/**
 * Compares the words of some lines with those that took their place, by diff(1), and marks those that differ in both files. A
 * line in which nearly all differ is left without marks. Returns false with the reason.
 */
bool word_diff_mark(struct code_text *before, struct line_range removed, struct code_text *after,
                    struct line_range added, struct error *error);

#endif
