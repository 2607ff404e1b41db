/** @file source_text.h  A source file's lines, and the named snippets they stand in. */
#ifndef SOURCE_TEXT_H
#define SOURCE_TEXT_H

#include "harness/core/error.h"

enum { SNIPPET_NAME_SIZE = 48, SNIPPET_MAX_NESTED = 4 };

struct source_line {
    const char *text;                /**< without the newline */
    char snippet[SNIPPET_NAME_SIZE]; /**< the innermost that holds the line; "" if none does */
};

struct source_text {
    struct source_line *lines; /**< line 1 of the file is number 0 */
    int num_lines;
    char *text;
};

/** Reads a file; a snippet begins and ends with the line `// [name]`. Returns false with the reason, nothing to free. */
bool source_text_read(const char *path, struct source_text *source, struct error *error);

void source_text_free(struct source_text *source);

/** The snippet that holds line `line`, counted from 1; "" where there is none or no such line. */
const char *source_snippet(const struct source_text *source, int line);

#endif
