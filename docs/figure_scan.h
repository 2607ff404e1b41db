/** @file figure_scan.h  A picture of sums in two levels: inside each warp by shuffles, then over the warps. */
#ifndef FIGURE_SCAN_H
#define FIGURE_SCAN_H

#include "trace.h"

#include <stdio.h>

/**
 * Draws warps 0 and 1 of a block that adds up as chapter 09 does: five __shfl_up_sync each; each warp's last lane stores the
 * warp's sum; warp 0 adds up the sums the same way; then every lane stores where its expert's places begin. Returns false
 * with the reason if the trace shows something else, or other numbers than these sums.
 */
bool figure_scan(FILE *out, const struct trace *trace, struct error *error);

#endif
