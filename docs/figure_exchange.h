/** @file figure_exchange.h  Pictures of candidates, a value and an id, that move through a warp by __shfl_xor_sync. */
#ifndef FIGURE_EXCHANGE_H
#define FIGURE_EXCHANGE_H

#include "source_text.h"
#include "trace.h"

#include <stdio.h>

/** Which exchanges to show, and how. */
struct exchange_request {
    const char *snippet; /**< the first that stand in this snippet of the kernel's source */
    int first_distance;  /**< and reach as far as this */
    int steps;           /**< so many of them: 1 to 15 */
    int lanes_together;  /**< lanes that exchange with one another only: 32, or those of a token */
    bool sorts;          /**< every lane ends with another value; else all with the best */
    const char *title, *description;
};

/**
 * Draws them: what each lane holds, step by step, and who reads whom. Returns false with the reason if the trace has no such
 * exchanges, or what they lead to is not what the kernel went on with.
 */
bool figure_exchange(FILE *out, const struct trace *trace, const struct source_text *source,
                     const struct exchange_request *request, struct error *error);

/** Which lanes take what they read, in each of the request's steps. Returns false as figure_exchange() does. */
bool exchange_taken(const struct trace *trace, const struct source_text *source, const struct exchange_request *request,
                    bool taken[][TRACE_LANES], struct error *error);

#endif
