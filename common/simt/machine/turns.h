/** @file turns.h  The order in which blocks, warps and lanes get their turns, as SIMT_ORDER says. */
#ifndef SIMT_TURNS_H
#define SIMT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Reads SIMT_ORDER: "reverse" or "random:SEED", and forward where it is not set. Programs check its text before they
 * launch; any other text is forward. Called at the beginning of each launch.
 */
void simt_turns_begin(void);

/** Begins a round, in which each of some blocks or warps gets a turn. In a random order, rounds differ. */
uint64_t simt_turns_round(void);

/**
 * Returns the number, below `count`, of the block or warp whose turn it is in a round: each number once for the turns 0
 * to count - 1.
 */
uint64_t simt_turn(uint64_t round, uint64_t turn, uint64_t count);

/** Checks whether a random order ends a lane's turn before its next atomic: it does once in some atomics. */
bool simt_turn_ends(void);

/** Whether the lanes of the last round's warps run from the highest down. A variable, because every switch reads it. */
extern bool simt_turns_down;

#endif
