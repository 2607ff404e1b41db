/**
 * @file blocks.h
 * @brief Functions and data shared by the scheduler, the replay and the grid, and used for launches.
 */
#ifndef SIMT_BLOCKS_H
#define SIMT_BLOCKS_H

#include "lanes/lanes.h"

/** Event buffers of the running warp's lanes, LANE_EVENT_CAPACITY events each. */
extern struct lane_event *simt_lane_events;
/**
 * Limit on the events and arrivals counted until the next block ends, for each block in progress (environment variable
 * SIMT_EVENT_LIMIT).
 */
extern uint64_t simt_event_limit;
/** Program counter of the last event replayed. */
extern uintptr_t simt_last_replayed_pc;

/** Replays the events of the warp's lanes, up to the first one that an event not yet recorded might precede. */
void simt_replay_events_as_warp_instructions(struct warp *warp);

/** Resets the block before its threads start. */
void simt_block_reset(struct block *block);

enum block_state { BLOCK_RUNNING, BLOCK_AT_GRID_BARRIER, BLOCK_DONE };

/**
 * Runs the block's warps until all threads have returned or wait at the grid barrier, until the block's turn has ended,
 * or until simt_faulted is set.
 */
enum block_state simt_block_run_turn(struct block *block);

/**
 * On the first call, finds this OS thread's shared memory and maps the shadow of device variables. Returns false if out
 * of memory.
 */
bool simt_grid_prepare_memory_once(void);

/**
 * Allocates the block that every launch needs, before the first launch; returns false if out of memory. It is separate
 * from simt_grid_prepare_memory_once() because a process forked for a launch allocates a new
 * block, which is faster than copying that of its parent.
 */
bool simt_grid_allocate_first_block(void);

/** Runs the blocks of the launch: one after another, or concurrently if the launch is cooperative. */
cudaError_t simt_grid_run(const struct launch *launch);

#endif
