/**
 * @file chapters/15_one_launch/exchange.h
 * @brief The workspace: chapter 15's part, then chapter 14b's, for problems that fall back to two launches.
 */
#ifndef ROUTING_EXCHANGE_H
#define ROUTING_EXCHANGE_H

#include "../14b_align_published_counts/exchange.h"
#include "harness/routing/routing.h"

// [exchange_bytes]
/** Largest number of tokens for a single launch. */
enum { MAX_TOKENS = 256 };

/** Size of chapter 15's part in bytes: a header of 256 bytes, then two sets with one word per token. */
enum { EXCHANGE_BYTES = 256 + 2 * MAX_TOKENS * 8 };
// [exchange_bytes]

#endif
