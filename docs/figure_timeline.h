/** @file figure_timeline.h  A picture of which warps work and which wait between the block's barriers. */
#ifndef FIGURE_TIMELINE_H
#define FIGURE_TIMELINE_H

#include "source_text.h"
#include "trace.h"

#include <stdio.h>

/**
 * Draws a row for each warp, or for neighbours that do the same, and a column for each interval between barriers. A warp's
 * traced operations lie side by side, as high as it has lanes at work, in the colour of their snippet; where it has none
 * left and others have, it waits. There is no time in a trace: an operation is as wide as another. Returns false with the
 * reason.
 */
bool figure_timeline(FILE *out, const struct trace *trace, const struct source_text *source, const char *title,
                     const char *description, struct error *error);

#endif
