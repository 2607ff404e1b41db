/** @file counters.h  What a run's launches counted, and how reports show it: table, JSON, CSV. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "harness/core/backend.h"

#include <stdio.h>

/** The counters of a run. All zero: nothing was counted, as on a GPU. */
struct run_counters {
    struct counter total[MAX_COUNTERS];
    int num_counters;
    struct kernel_counters kernels[MAX_KERNELS]; /**< each has num_counters of them */
    int num_kernels;
};

/** Reads what has been counted since backend_reset_counters(). */
void counters_read(struct run_counters *counters);

/**
 * Writes a table, the total and what that is per token (nothing if `num_tokens` is 0), with a column for each kernel if there
 * are several, and below it what the counters cannot see. Writes nothing if nothing was counted.
 */
void counters_write_table(FILE *stream, const struct run_counters *counters, double num_tokens);

/** Writes the members "counters" and "kernels" of a JSON object, in `{"name": value, ...}` and a list of such with names. */
void counters_write_json(FILE *stream, const struct run_counters *counters);

/** Writes the fields at the end of a CSV header, and of its line: a comma and the counter's name, or its total, for each. */
void counters_write_csv_names(FILE *stream, const struct run_counters *counters);
void counters_write_csv_values(FILE *stream, const struct run_counters *counters);

#endif
