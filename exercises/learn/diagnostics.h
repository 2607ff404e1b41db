/** @file diagnostics.h  A compiler's messages, parsed: each error and warning with the lines that belong to it. */
#ifndef DIAGNOSTICS_H
#define DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_DIAGNOSTICS = 3 };

/** An error or a warning: its first line, and the source line, the caret and the notes after it. */
struct diagnostic {
    const char *first_line;
    size_t first_line_size; /**< size without the line break */
    const char *following_lines;
    size_t following_lines_size; /**< size of the lines that follow, or 0 */
};

/** The first few diagnostics of a kind, and their total number. */
struct diagnostics {
    struct diagnostic first_diagnostics[MAX_DIAGNOSTICS];
    size_t num_found;
};

/** Checks whether the line at `line`, which follows a diagnostic, is a "note:" rather than code. */
bool diagnostics_is_note(const char *line);

/**
 * Finds the errors or, if `find_errors` is false, the warnings in the output of a compiler and linker. The result
 * points into the text.
 */
void diagnostics_find(const char *messages, bool find_errors, struct diagnostics *found);

#endif
