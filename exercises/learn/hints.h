/** @file hints.h  The steps of a hints.md: each the text under a line "## 1", "## 2", ... */
#ifndef HINTS_H
#define HINTS_H

#include "base/error.h"

#include <stdbool.h>

enum { MAX_HINTS = 9 };

struct hints {
    char *text;             /**< what the steps point into */
    char *steps[MAX_HINTS]; /**< without blank lines around; a paragraph is one line */
    int count;              /**< at least 1 */
};

/** False with one line that names the file, and nothing to free. */
bool hints_read(const char *path, struct hints *hints, struct error *error);

void hints_free(struct hints *hints);

#endif
