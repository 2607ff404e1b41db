/** @file figure_stores.h  A picture of two kernels that write the same list: which sectors each request of a warp reaches. */
#ifndef FIGURE_STORES_H
#define FIGURE_STORES_H

#include "trace.h"

#include <stdio.h>

/**
 * Draws the stores of pads by chapters 06 and 07, from a trace of each. The list is what a trace's first store to global memory goes
 * to. Returns false with the reason if a trace does not fill the list from end to end, once, or the lists differ in size.
 */
bool figure_stores(FILE *out, const struct trace *before, const struct trace *after, struct error *error);

#endif
