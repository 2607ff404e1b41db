/** @file exchange.h  Chapter 15's workspace: its own, and behind it chapter 14's, for what takes two launches. */
#ifndef ONE_LAUNCH_EXCHANGE_H
#define ONE_LAUNCH_EXCHANGE_H

#include "harness/align/exchange.h"
#include "harness/routing/routing.h"

/** Up to so many tokens take one launch. */
#ifndef MOST_TOKENS
#define MOST_TOKENS 256
#endif
enum { EXCHANGE_BYTES = 256 + 2 * MOST_TOKENS * 8 };

#ifdef __cplusplus
extern "C" {
#endif

/** Chapters 13 and 14, one after the other, as they are. */
cudaError_t routing_launch_pair(const struct routing_problem *problem, const struct routing_buffers *buffers,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
