/** @file hints.h  The hints in a hints.md: each is the text under a heading "## 1", "## 2", ... */
#ifndef HINTS_H
#define HINTS_H

#include "base/error.h"

#include <stdbool.h>

enum { MAX_HINTS = 9 };

struct hints {
    char *text;            /**< the text that `hint` points into */
    char *hint[MAX_HINTS]; /**< without leading or trailing blank lines; each paragraph is one line */
    int num_hints;         /**< at least 1 */
};

/**
 * Reads a file's hints. On failure, returns false with a one-line error that names the file; nothing needs to be freed.
 */
bool hints_read(const char *path, struct hints *hints, struct error *error);

void hints_free(struct hints *hints);

#endif
