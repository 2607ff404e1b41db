/**
 * @file active_lanes.h
 * @brief Which lanes are active at a collective without a mask, on a device whose warps have 64 lanes.
 *
 * There a warp has one program counter. Lanes that diverge execute one side after the other and reconverge where the
 * sides join, and at the end of each iteration of a loop. So of the lanes that wait, those at the first position in the
 * source go on first. A lane that has ended an iteration waits for the lanes that are still in it, wherever they are.
 */
#ifndef SIMT_ACTIVE_LANES_H
#define SIMT_ACTIVE_LANES_H

#include "lanes/lanes.h"

/** A position in the source: in a function that a call has entered (NULL: the kernel), as in a key. */
struct position {
    const struct simt_scope *call;
    uint64_t key;
};

/**
 * Returns the lanes that wait at the collective, or at the end of the iteration, that is first. Returns 0 if none
 * waits.
 */
lane_mask simt_active_first(const struct warp *warp);

/** Stores for each lane the position after which the replay may not issue its events yet. */
void simt_active_limits(const struct warp *warp, struct position limits[WARP_LANES]);

/** Returns a limit as a key of the depth of `key`: the position or, further out, that of the call that led there. */
uint64_t simt_active_limit(struct position limit, uint64_t key);

#endif
