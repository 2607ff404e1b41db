/** @file diagnostics.h  What a compiler said, taken apart: each error and warning with the lines that belong to it. */
#ifndef DIAGNOSTICS_H
#define DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_DIAGNOSTICS = 3 };

/** One error or warning: its first line, and the source line, the caret and the notes after it. */
struct diagnostic {
    const char *line;
    size_t line_size; /**< without the line break */
    const char *rest;
    size_t rest_size; /**< of whole lines, perhaps none */
};

/** The first few of a kind, and how many there are. */
struct diagnostics {
    struct diagnostic first[MAX_DIAGNOSTICS];
    size_t count;
};

/** Finds the errors in what a compiler and linker said, or the warnings. Points into the text. */
void diagnostics_find(const char *messages, bool errors, struct diagnostics *found);

#endif
