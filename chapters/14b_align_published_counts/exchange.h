/** @file chapters/14b_align_published_counts/exchange.h  The size of the workspace in which blocks publish counts. */
#ifndef ALIGN_EXCHANGE_H
#define ALIGN_EXCHANGE_H

#include "harness/align/align.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of blocks in a launch whose blocks wait for each other; no GPU has more multiprocessors. */
enum { ALIGN_MAX_BLOCKS = 192 };

/**
 * Returns the size of the workspace in bytes: 16, then two sets of count rows, with 4 bytes per expert for each block.
 * The workspace must hold zeros before its first launch; each launch then leaves it ready for the next. Launches that
 * share a workspace must use the same stream and number of experts; their numbers of ids may differ.
 */
size_t align_exchange_bytes(const struct align_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
