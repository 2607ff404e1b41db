/**
 * @file blocks.h
 * @brief Functions and data that the scheduler, the replay and the grid offer each other and a launch.
 */
#ifndef SIMT_BLOCKS_H
#define SIMT_BLOCKS_H

#include "lanes/lanes.h"

/** Event buffers of the lanes of the running warp, LANE_EVENTS events each. */
extern struct event *simt_lane_events;
/** Largest number of events and arrivals until a block ends (SIMT_EVENT_LIMIT). */
extern uint64_t simt_event_limit;
/** Program counter of the last event replayed. */
extern uintptr_t simt_last_pc;

/** Replays the events of the warp's lanes, up to the first that a later event of a running lane might precede. */
void simt_replay(struct warp *warp);

/** Resets the block before its threads start. */
void simt_block_begin(struct block *block);

enum block_state { BLOCK_RUNNING, BLOCK_AT_GRID_BARRIER, BLOCK_DONE };

/**
 * Runs the block's warps until all threads have returned or wait for the grid, a turn has ended, or simt_faulted is
 * set.
 */
enum block_state simt_block_run(struct block *block);

/** Finds this thread's shared memory, once, and maps the shadow of variables; returns false if memory is short. */
bool simt_grid_prepare(void);

/**
 * Allocates the block that every launch needs, before the first launch; returns false if memory is short. Separate from
 * simt_grid_prepare(), because a process that is forked for a launch allocates its own block instead of copying its
 * parent's.
 */
bool simt_grid_make_block(void);

/** Runs the blocks of the launch: one after another, or all together if it is cooperative. */
cudaError_t simt_grid_run(const struct launch *launch);

#endif
