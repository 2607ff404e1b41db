/**
 * @file active_lanes.h
 * @brief Finds the lanes that are active at a collective without a mask, on a device whose warps have 64 lanes.
 *
 * On such a device a warp has a single program counter. When lanes diverge, the warp executes one side after the other;
 * the lanes reconverge where the sides join, and at the end of each loop iteration. Therefore the waiting lanes at the
 * earliest position in the source continue first. A lane that has ended an iteration waits until no lane is still
 * executing an iteration of the loop.
 */
#ifndef SIMT_ACTIVE_LANES_H
#define SIMT_ACTIVE_LANES_H

#include "lanes/lanes.h"

/**
 * A position in the source, in the function that `call_frame` has entered (NULL for the kernel). The key has the form
 * of an event's key.
 */
struct source_position {
    const struct simt_call_or_iteration_frame *call_frame;
    uint64_t position_key;
};

/**
 * Returns the lanes that wait, at a collective or at the end of an iteration, at the earliest position in the source.
 * Returns 0 if no lane waits.
 */
lane_mask simt_lanes_waiting_at_earliest_position(const struct warp *warp);

/** Stores for each lane the position at which the replay must stop issuing the lane's events for now. */
void simt_find_event_replay_limits(const struct warp *warp, struct source_position lane_limits[WARP_LANES]);

/**
 * Returns a limit as a key that can be compared with `other_key`. If `other_key` has a smaller call depth, the result
 * is the position of the call at that depth that led to the limit.
 */
uint64_t simt_replay_limit_as_key_at_depth_of(struct source_position limit, uint64_t other_key);

#endif
