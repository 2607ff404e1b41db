/** @file chapters/14b_align_published_counts/exchange.h  The workspace in which blocks publish their counts. */
#ifndef ALIGN_EXCHANGE_H
#define ALIGN_EXCHANGE_H

#include "harness/align/align.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The most blocks of a launch that wait for each other: no GPU has more multiprocessors. */
enum { ALIGN_MAX_BLOCKS = 192 };

/**
 * The bytes of the workspace: 16, then two sets of rows, of 4 bytes an expert for each block. It holds zeros before its
 * first launch, and before the next what the last one left there. It serves one stream and one number of experts,
 * whatever the ids.
 */
size_t align_exchange_bytes(const struct align_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
