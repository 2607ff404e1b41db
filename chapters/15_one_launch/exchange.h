/**
 * @file chapters/15_one_launch/exchange.h
 * @brief The workspace: chapter 15's own, and behind it chapter 14's, for what takes two launches.
 */
#ifndef ROUTING_EXCHANGE_H
#define ROUTING_EXCHANGE_H

#include "../14b_align_published_counts/exchange.h"
#include "harness/routing/routing.h"

// [exchange_bytes]
/** Up to so many tokens take one launch. */
enum { MAX_TOKENS = 256 };

/** What it has of its own: 256 bytes, then two sets of a word for each token. */
enum { EXCHANGE_BYTES = 256 + 2 * MAX_TOKENS * 8 };
// [exchange_bytes]

#endif
