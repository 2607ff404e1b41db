/** @file gate_report.h  What a gate program says about its run. */
#ifndef GATE_REPORT_H
#define GATE_REPORT_H

#include "harness/core/counters.h"
#include "harness/gate/options.h"
#include "harness/gate/run.h"

/** A finished run. */
struct gate_report {
    const struct gate_chapter *chapter;
    const struct gate_options *options;
    const struct backend *backend;
    const struct gate_output *output;
    enum run_result result;
    const char *failure; /**< what was wrong; "" if verified */
    const char *command; /**< repeats the run */
    struct run_counters counters;
};

/** Writes the report to the stream in the format asked for. */
void gate_report_write(const struct gate_report *report, FILE *stream);

#endif
