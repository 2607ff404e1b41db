/**
 * @file blocks.h
 * @brief From warps to the grid: what the scheduler, the replay and the grid offer each other and a launch.
 */
#ifndef SIMT_BLOCKS_H
#define SIMT_BLOCKS_H

#include "lanes/lanes.h"

/** The room for events of the 32 lanes of the warp that runs, LANE_EVENTS each. */
extern struct event *simt_lane_events;
/** Events and arrivals that a launch may have. */
extern uint64_t simt_event_limit;
/** Where the warp last replayed was. */
extern uintptr_t simt_last_pc;

/** Replays what the lanes of the warp have done, up to where a lane that can still run might do something first. */
void simt_replay(struct warp *warp);

/** Every thread of the block is about to start. */
void simt_block_begin(struct block *block);

enum block_state { BLOCK_RUNS, BLOCK_AT_GRID_BARRIER, BLOCK_DONE };

/** Runs the block's warps until all threads have returned, wait for the grid, have had their turn, or simt_faulted. */
enum block_state simt_block_go_on(struct block *block);

/** Finds this thread's shared memory, once, and makes the shadow of variables; false: there is no memory. */
bool simt_grid_prepare(void);

/**
 * Makes the block that every launch needs, before the first; false: there is no memory. Not part of
 * simt_grid_prepare(): a process that is forked for a launch makes a block of its own in place of copying its parent's.
 */
bool simt_grid_make_block(void);

/** Runs the blocks of the launch: one after another, or all together if it is cooperative. */
cudaError_t simt_grid_run(const struct launch *launch);

#endif
