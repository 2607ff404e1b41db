/** @file step_code.h  Two kernels side by side, as HTML. */
#ifndef STEP_CODE_H
#define STEP_CODE_H

#include "site_sources.h"

#include <stdio.h>

/** One side: the file, its page in the site, and what people call it. */
struct step_side {
    const char *path, *title;
    char url[SITE_URL_SIZE];
};

/** Two pieces of code that do the same, each between two lines `// [tag]` of its file. */
struct step_pair {
    const char *what, *before, *after;
};

/** Writes a table of what diff(1) finds; what has not changed is folded away. Returns false with the reason. */
bool step_code_write_diff(FILE *out, const struct step_side *before, const struct step_side *after,
                          struct error *error);

/** Writes a table of pairs. Returns false with the reason: a file cannot be read or has no such tag. */
bool step_code_write_pairs(FILE *out, const struct step_side *before, const struct step_side *after,
                           const struct step_pair *pairs, int num_pairs, struct error *error);

#endif
