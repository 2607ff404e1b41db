/**
 * @file happens_before.h
 * @brief Ticks: what has been ordered before what by barriers, __syncwarp, fences and the ends of launches.
 *
 * Ticks count synchronisations; every access happens at the current tick.
 */
#ifndef SIMT_HAPPENS_BEFORE_H
#define SIMT_HAPPENS_BEFORE_H

#include "device_limits.h"

#include <stdbool.h>
#include <stdint.h>

/** What __syncwarp has ordered among the lanes of a warp, since its block began. */
struct warp_order {
    uint32_t sync_end;                      /**< what the warp did at ticks below this is ordered by one of all lanes */
    uint32_t partial;                       /**< lanes that a partial one has ordered */
    uint32_t known[WARP_LANES][WARP_LANES]; /**< known[i][j]: lane i has seen what lane j did at ticks below this */
};

/** A block's place in time, kept while others run. */
struct block_order {
    uint32_t block_tick;  /**< it began; shared memory written earlier is not this block's */
    uint32_t barrier_end; /**< what the block did at ticks below this is ordered by a barrier */
    uint32_t acquire_end; /**< it has read an atomic since */
};

/** Now, for the thread that runs. */
struct order {
    uint32_t tick;
    uint32_t thread;        /**< which runs: its number, where a shadow cell has it */
    uint32_t launch_tick;   /**< earlier ticks belong to earlier launches */
    uint32_t segment_tick;  /**< this block has been running without another in between since */
    uint32_t ordered_ticks; /**< ticks of the segment, from its start, that a barrier has ordered */
    uint32_t fence_end;     /**< some thread has made what it did before this visible (__threadfence) */
    uint32_t block_number;  /**< in the grid */
    struct block_order block;
    const struct warp_order *warp;
};

extern struct order simt_order;

/** A launch begins: forgets which block ran when. */
void simt_order_launch(void);
/** From now on block `number` runs: for the first time, or with what simt_order_block() said when its turn ended. */
void simt_order_begin(uint32_t number);
void simt_order_resume(uint32_t number, const struct block_order *block);

/** A block barrier of the whole block is complete: what came before is ordered. */
void simt_order_barrier(void);
/** A barrier of the whole grid is complete. */
void simt_order_grid(void);
/** A __syncwarp of the lanes in `mask` is complete, in a warp that has `lanes`. */
void simt_order_syncwarp(struct warp_order *warp, uint32_t lanes, uint32_t mask);
/** The running thread makes what it has done visible; the running block reads what others have made so. */
void simt_order_fence(void);
static inline void simt_order_acquire(void)
{
    simt_order.block.acquire_end = simt_order.tick;
}

/** The number of the block that ran at a tick of this launch. */
uint32_t simt_block_at(uint32_t tick);
/** Whether that is the one that runs now. */
static inline bool simt_same_block(uint32_t tick)
{
    return tick >= simt_order.segment_tick ||
           (tick >= simt_order.block.block_tick && simt_block_at(tick) == simt_order.block_number);
}
/** Whether what `thread`, a number in its block, did at `tick` is ordered before what the running thread does now. */
bool simt_ordered(uint32_t tick, unsigned thread);
/** Whether what any lane but the running thread's did at `tick` is ordered before now by __syncwarp, whichever it was. */
bool simt_ordered_warp(uint32_t tick);
/** Something made visible by a fence, and this block has read an atomic since: taken as ordered, whoever did it. */
static inline bool simt_ordered_by_fence(uint32_t tick)
{
    return tick < simt_order.fence_end && tick < simt_order.block.acquire_end;
}

#endif
