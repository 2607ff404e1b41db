/** @file figure_flow.h  A picture of one token on its way through the gate: experts, groups, kept groups, chosen experts. */
#ifndef FIGURE_FLOW_H
#define FIGURE_FLOW_H

#include "harness/core/error.h"

#include <stdio.h>

/**
 * Draws the last row of `directory`/topk_ids.npy and topk_weights.npy, which a gate wrote with --out from the router's data with
 * its usual options. Returns false with the reason if a file cannot be read, or holds another answer than the scores give.
 */
bool figure_flow(FILE *out, const char *directory, struct error *error);

#endif
