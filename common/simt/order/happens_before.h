/**
 * @file happens_before.h
 * @brief What is ordered before now: by program order, barriers, __syncwarp, and messages between fences.
 *
 * The model is CUDA's own, applied to the run that was simulated. An operation is ordered before another by
 *
 *   - program order: the same thread did it;
 *   - a block barrier, for all threads of the block; __syncwarp, for the lanes of its mask, and for nobody else;
 *   - the barrier of a cooperative grid, and the end of a launch;
 *   - a message: fence F1, then an atomic that writes X, an atomic that reads X with none but atomics there in between,
 *     then fence F2. What is ordered before F1 is then ordered before what follows F2. From fence to atomic and from
 *     atomic to fence the order is the program's or a barrier's: the fence may be another thread's than the atomic. F1
 *     and F2 must each be wide enough for the other's thread: __threadfence_block reaches the threads of its block
 *     only.
 *
 * Two accesses race if different threads made them, one writes, they have a byte in common, and nothing orders them;
 * unless both are atomic, of the same bytes, and each wide enough for the other's thread (atomicAdd_block is not, for
 * another block's). An atomic is besides ordered before what follows a later atomic at the same place, which saw it. A
 * volatile access needs no second fence. A volatile load is atomic in all this, and so is a volatile store of a thread
 * that has fenced.
 *
 * All this is kept exactly, per byte: a race between two accesses that were made is reported if and only if there is
 * one. What is not tried is another order of atomics: who comes first at one is who runs first here.
 *
 * Time is counted in epochs, of which every synchronisation makes one. What a barrier orders is told by its epoch
 * alone. What messages order takes vector clocks (clocks.h), which nobody has before there is a fence.
 */
#ifndef SIMT_HAPPENS_BEFORE_H
#define SIMT_HAPPENS_BEFORE_H

#include "machine/device_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What __syncwarp has ordered among the lanes of a warp, since its block began. */
struct warp_order {
    uint32_t sync_end; /**< what the warp did at epochs below this is ordered by one of all lanes */
    uint32_t partial;  /**< lanes that a partial one has ordered */
    uint32_t known[WARP_LANES][WARP_LANES]; /**< known[i][j]: lane i has seen what lane j did at epochs below this */
};

struct thread_set;
struct vector_clock;

/** What fences and atomics have told a thread. Those "in block" hold for the threads of its own block only. */
struct thread_order {
    struct vector_clock *known;           /**< is ordered before now */
    struct vector_clock *fenced;          /**< is ordered before a fence: what its next atomic tells others */
    struct vector_clock *fenced_in_block; /**< the same with the fences of this block alone, and of it */
    struct vector_clock *seen;            /**< was told by an atomic, and is ordered before the next fence */
    struct vector_clock *seen_in_block;
};

/** A block's place in time, kept while others run. */
struct block_order {
    uint32_t block_epoch;         /**< it began; shared memory written earlier is not this block's */
    uint32_t barrier_end;         /**< what the block did at epochs below this is ordered by a barrier */
    struct thread_order *threads; /**< NULL before there is a fence */
};

/** Now, for the thread that runs. */
struct order {
    uint32_t epoch;
    uint32_t thread;         /**< which runs: its number, where a shadow cell has it */
    uint32_t first_epoch;    /**< of the launch */
    uint32_t launch_epoch;   /**< what was done before is ordered, whoever did it */
    uint32_t segment_epoch;  /**< this block has been running without another in between since */
    uint32_t ordered_epochs; /**< epochs of the segment, from its start, that a barrier has ordered */
    uint32_t block_number;   /**< in the grid */
    bool alone;              /**< the grid has one block */
    bool together;           /**< blocks take turns */
    uintptr_t
        loaded; /**< what was last loaded from global or shared memory: address, and below it 5 bits for its bytes */
    struct block_order block;
    struct warp_order *warp;
};

extern struct order simt_order;

/** A launch begins: forgets which block ran when. False: no memory. */
bool simt_order_launch(uint64_t blocks, bool together);
/** From now on block `number` runs: for the first time, or with what simt_order_block() said when its turn ended. */
void simt_order_begin(uint32_t number);
void simt_order_resume(uint32_t number, const struct block_order *block);
/** A block has ended. */
void simt_order_end(struct block_order *block);

/** A block barrier of the whole block is complete: what came before is ordered. */
void simt_order_barrier(void);
/** A barrier of the whole grid is complete; then, for each block of it. */
void simt_order_grid(void);
void simt_order_grid_opens(struct block_order *block);
/** A __syncwarp of the lanes in `mask` is complete, in a warp that has `lanes` and starts with thread `first`. */
void simt_order_syncwarp(struct warp_order *warp, unsigned first, uint32_t lanes, uint32_t mask);
/** The running thread fences, for its block only or for all. */
void simt_order_fence(bool in_block);

/**
 * The running thread has read a place by an atomic (`adding`), and `wrote` there; or has done so by a volatile access.
 */
void simt_order_message(uintptr_t address, unsigned bytes, bool wrote, bool adding);
/** A store that is no atomic has ended what a word of 4 bytes tells. */
void simt_order_overwritten(uintptr_t address);
/** Whether the running thread has fenced since its block began, or was told by a barrier of one that did. */
bool simt_order_has_fenced(void);

/**
 * A barrier in shared memory: the running thread tells whoever waits for it what is ordered before now; that `thread`,
 * a number in its block, has written something at an epoch; and is told itself. A clock belongs to the barrier.
 */
void simt_order_release(struct vector_clock **told);
void simt_order_release_write(struct vector_clock **told, unsigned thread, uint32_t epoch);
void simt_order_acquire(struct vector_clock *told);
/**
 * The running thread fences between its own accesses to an enum shadow_space and those of copies and products. Whether
 * what a thread did there at an epoch is before such a fence that is ordered before now.
 */
void simt_order_proxy_fence(int space);
bool simt_ordered_by_proxy(uint32_t epoch, unsigned thread, int space);

/** Whether nothing has ordered what the running thread did at an epoch, or since, before what others do. */
bool simt_order_silent_since(uint32_t epoch);

/** The number of the block that ran at an epoch of this launch. */
uint32_t simt_block_at(uint32_t epoch);
/** Whether that is the one that runs now. */
static inline bool simt_same_block(uint32_t epoch)
{
    return epoch >= simt_order.segment_epoch ||
           (epoch >= simt_order.block.block_epoch && simt_block_at(epoch) == simt_order.block_number);
}
/**
 * Whether nothing that is still to come can be ordered after what was done then: its block has ended and told nobody.
 */
bool simt_order_lost(uint32_t epoch);
/**
 * Whether what `thread`, a number in its block, did at `epoch` is ordered before what the running thread does now,
 * which may be a volatile load.
 */
bool simt_ordered(uint32_t epoch, unsigned thread, bool volatile_load);
/** As simt_ordered() for all of a set of threads; if not, one that is not, and how many there are. */
bool simt_all_ordered(uint32_t epoch, const struct thread_set *threads, bool volatile_load, unsigned *thread,
                      unsigned *count);

#endif
