/** @file counters.h  What a run's launches counted, as fields of a report. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "harness/core/backend.h"
#include "harness/core/record.h"

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
 * Adds them to a report. Table: the total and what that is per token (nothing if `num_tokens` is 0), with a column for each
 * kernel if there are several, and below it what the counters cannot see; nothing if nothing was counted. JSON: "counters" and,
 * for each kernel, "kernels". CSV: the totals. The counters must outlive the report.
 */
void counters_report(const struct run_counters *counters, double num_tokens, struct record *report);

#endif
