/** @file core/counters.h  What a run's launches counted, as fields of a report. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "harness/core/backend.h"
#include "harness/core/record.h"

/**
 * Adds them to a report. Table: the total and what that is per token (nothing if `num_tokens` is 0), with a column for each
 * kernel if there are several, and below it what the counters cannot see; nothing if nothing was counted. JSON: "counters" and,
 * for each kernel, "kernels". CSV: the totals. The counters must outlive the report.
 */
void counters_report(const struct run_counters *counters, double num_tokens, struct record *report);

#endif
