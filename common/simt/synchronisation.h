/** @file synchronisation.h  Where lanes meet: warp collectives and the block's barrier, as the scheduler sees them. */
#ifndef SIMT_SYNCHRONISATION_H
#define SIMT_SYNCHRONISATION_H

#include "lanes.h"

/** Completes every collective of `warp` whose lanes are all there. */
void simt_collectives_complete(struct warp *warp);

/** The lanes that a waiting lane still waits for. */
uint32_t simt_collective_missing(const struct warp *warp, unsigned lane);
/** Says what a waiting lane waits for and where the first of the `missing` lanes is instead. */
void simt_collective_describe(const struct block *block, const struct warp *warp, unsigned lane, uint32_t missing,
                              char *text, size_t size);

/** All threads are at a barrier: checks that it is one, and unless it is the grid's lets them go on. */
void simt_barrier_complete(struct block *block);
/** Lets the threads of a block go on that all wait at a barrier. */
void simt_barrier_open(struct block *block);

#endif
