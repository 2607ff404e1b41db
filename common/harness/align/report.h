/** @file align_report.h  What an align program says about its run. */
#ifndef ALIGN_REPORT_H
#define ALIGN_REPORT_H

#include "harness/align/load.h"
#include "harness/core/counters.h"

/** A finished run. */
struct align_report {
    const struct align_chapter *chapter;
    const struct align_options *options;
    const struct backend *backend;
    const struct align_operands *operands;
    enum run_result result;
    const char *failure; /**< what was wrong; "" if verified */
    const char *command; /**< repeats the run */
    struct run_counters counters;
};

/** Writes the report to the stream in the format asked for. */
void align_report_write(const struct align_report *report, FILE *stream);

#endif
