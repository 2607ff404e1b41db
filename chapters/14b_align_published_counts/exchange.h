/** @file chapters/14b_align_published_counts/exchange.h  The workspace in which blocks publish their counts. */
#ifndef ALIGN_EXCHANGE_H
#define ALIGN_EXCHANGE_H

#include "harness/align/align.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of blocks that wait for each other in a launch: no GPU has more multiprocessors. */
enum { ALIGN_MAX_BLOCKS = 192 };

/**
 * Returns the size of the workspace in bytes: 16, then two sets of rows with 4 bytes an expert for each block. It holds
 * zeros before its first launch, and before each other launch the words of the previous one. It serves one stream and
 * one number of experts, for any ids.
 */
size_t align_exchange_bytes(const struct align_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
