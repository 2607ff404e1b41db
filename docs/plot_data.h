/** @file plot_data.h  What the scripts in docs/plots draw, as text that gnuplot loads before them. */
#ifndef PLOT_DATA_H
#define PLOT_DATA_H

#include "times.h"

#include "harness/core/error.h"

#include <stdio.h>

enum { PLOT_TEXT_SIZE = 640 };

/** Writes `name = 'text'`, with ? for what gnuplot would take for its own. */
void plot_write_text(FILE *out, const char *name, const char *text);

/** The same without a name, for lists and data blocks; `quote` is the mark around the text, ' or ". */
void plot_write_quoted(FILE *out, const char *text, char quote);

/** "# description: ...", what the picture shows for those who do not see it. One line. */
__attribute__((format(printf, 2, 3))) void plot_write_description(FILE *out, const char *format, ...);

/**
 * Times against tokens, a line each of a library, chapters and the floor. `words` are those of a times marker, with
 * chapters; they are cut up.
 */
bool plot_times(FILE *out, const struct times_origin *origin, char *words, struct error *error);

/** Times for one token and for many, a row each: the gate's and align's. */
bool plot_results(FILE *out, const struct times_origin *origin, char *gate_words, char *align_words,
                  struct error *error);

/** The simulator's counters of chapters, "02", from RUNS/02.json: `operator_name` is gate or align. */
bool plot_counters(FILE *out, const char *operator_name, const char *runs, char *const *chapters, int num_chapters,
                   struct error *error);

/** How often each expert is chosen: from the gate's topk_ids.npy, and the words that the rows are of. */
bool plot_load(FILE *out, const char *topk_ids_path, const char *tokens_path, struct error *error);

#endif
