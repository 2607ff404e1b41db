/** @file gains.h  What a chapter gains: a table of recorded times, a row a chapter. */
#ifndef GAINS_H
#define GAINS_H

#include "harness/core/error.h"

#include <stdio.h>

/** The table's head. */
void gains_write_head(FILE *out);

/**
 * A chapter's row: from docs/results/h200/NN_name_f32.json, or _b64.json for align; "-" where nothing is recorded. `readme` is
 * the path of its walkthrough, `id` its page. Returns false if a file that is there cannot be understood.
 */
bool gains_write_row(FILE *out, const char *readme, const char *id, const char *title, const char *idea,
                     struct error *error);

/** What the figures of chapters `first` to `last` are and where they come from, as a paragraph. */
bool gains_write_source(FILE *out, int first, int last, struct error *error);

#endif
