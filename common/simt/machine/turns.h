/** @file turns.h  The order in which blocks, warps and lanes run, which the environment variable SIMT_ORDER selects. */
#ifndef SIMT_TURNS_H
#define SIMT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Reads SIMT_ORDER at the beginning of each launch: "reverse" or "random:SEED". If it is not set, the order is forward.
 * Returns false if it has any other value.
 */
bool simt_turns_read_environment(void);

/**
 * Begins a round, in which each block of a grid or each warp of a block gets one turn, and returns its hash for
 * simt_turns_block_or_warp_at(). In a random order, each round has a different order.
 */
uint64_t simt_turns_begin_round_get_hash(void);

/**
 * Returns the number, below `num_blocks_or_warps`, of the block or warp that gets turn `turn` of the round with a hash.
 * Each number occurs once in turns 0 to num_blocks_or_warps - 1.
 */
uint64_t simt_turns_block_or_warp_at(uint64_t round_hash, uint64_t turn, uint64_t num_blocks_or_warps);

/** Returns whether the running lane's turn ends before its next atomic, as it occasionally does in a random order. */
bool simt_turn_ends_before_atomic(void);

/**
 * True if the lanes of a warp run from the highest down in the most recent round. It is a variable rather than a
 * function because every lane switch reads it.
 */
extern bool simt_lanes_run_descending;

#endif
