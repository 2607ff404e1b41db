/**
 * @file happens_before.h
 * @brief The happens-before order of one launch: program order, barriers, __syncwarp, and release/acquire edges. Used
 *        by the race check and by the calls that synchronise.
 *
 * The model is CUDA's, applied to the run that was simulated. One operation is ordered before another by
 *
 *   - program order, if the same thread executes both;
 *   - a block barrier, for all threads of the block; __syncwarp, for the lanes of its mask only;
 *   - the barrier of a cooperative grid, and the end of a launch;
 *   - for a launch that may overlap earlier ones, a wait (cudaGridDependencySynchronize): the end of the previous
 *     launch is ordered before everything after the wait. If a thread of the previous launch has waited as well, the
 *     end of the launch before that one is likewise ordered before everything after the wait, and so on. Nothing else
 *     orders a launch relative to those that it may overlap;
 *   - a release/acquire edge: fence F1, then an atomic that writes X; an atomic that reads X, with only atomics on X in
 *     between; then fence F2. Everything ordered before F1 is then ordered before everything after F2. Each fence must
 *     be ordered relative to its atomic by program order or by a barrier; different threads may execute the fence and
 *     the atomic. The scope of F1 must include the thread of F2, and vice versa: __threadfence_block reaches only the
 *     threads of its block.
 *
 * Two accesses race if different threads made them, at least one is a write, they have a byte in common, and nothing
 * orders them. They do not race if both are atomics on the same bytes and the scope of each includes the other's thread
 * (that of atomicAdd_block does not include a thread of another block). An atomic is also ordered before everything
 * after a later atomic at the same address, because the later one has seen it. A volatile access needs no second fence.
 * A volatile load counts as an atomic in all these rules, and so does a volatile store by a thread that has executed a
 * fence.
 *
 * All this is tracked exactly, per byte: two executed accesses are reported as a race if and only if they race under
 * these rules. Other orders of the atomics are not explored: atomics execute in the order in which the simulator runs
 * the threads.
 *
 * Time is counted in epochs, and each synchronisation starts a new one. Whether a barrier orders an access follows from
 * the access's epoch alone. Release/acquire edges need vector clocks (vector_clocks.h), which no thread has before the
 * first fence.
 */
#ifndef SIMT_HAPPENS_BEFORE_H
#define SIMT_HAPPENS_BEFORE_H

#include "machine/device_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The order that __syncwarp has established among the lanes of a warp since its block began. */
struct order_within_warp {
    /** The warp's accesses at epochs below this are ordered by a __syncwarp of all lanes. */
    uint32_t syncwarp_ordered_before_epoch;
    lane_mask partially_synced_lanes; /**< lanes that a __syncwarp of some lanes has ordered */
    /** known_epochs[i][j]: lane i has seen lane j's accesses at epochs below this */
    uint32_t known_epochs[WARP_LANES][WARP_LANES];
};

struct overlapping_launch;
struct overlapping_launches;
struct thread_set;
struct vector_clock;

/**
 * The vector clocks that a thread has obtained from fences and atomics. The members with _in_block include only
 * synchronisation within its block.
 */
struct thread_ordering_clocks {
    struct vector_clock *happens_before;   /**< accesses that are ordered before the current one */
    struct vector_clock *clock_to_release; /**< accesses before a fence; the thread's next atomic releases them */
    /** As `clock_to_release`, for the thread's block, where __threadfence_block also counts. */
    struct vector_clock *clock_to_release_in_block;
    /** Accesses acquired by an atomic; ordered before accesses after the next fence. */
    struct vector_clock *clock_acquired_before_fence;
    struct vector_clock *clock_acquired_before_fence_in_block;
};

/** The ordering state of one block, kept while other blocks run. */
struct order_within_block {
    uint32_t block_begin_epoch; /**< epoch of the block's start; earlier writes to shared memory are not its own */
    uint32_t barrier_ordered_before_epoch; /**< the block's accesses at epochs below this are ordered by a barrier */
    struct thread_ordering_clocks *thread_clocks; /**< NULL until the first fence or acquire */
};

/** The current state: the running thread, and the epochs below which accesses are ordered before the current one. */
struct current_order {
    uint32_t epoch;
    uint32_t packed_thread;      /**< number of the running thread, shifted by WRITE_THREAD_SHIFT (shadow_cell.h) */
    uint32_t launch_begin_epoch; /**< epoch at which the launch began */
    /**
     * End of the last grid barrier, or start of the launch: this launch's accesses at epochs below this are ordered.
     */
    uint32_t grid_barrier_ordered_before_epoch;
    /** Like grid_barrier_ordered_before_epoch, including earlier launches; lower if it may overlap them. */
    uint32_t ordered_before_epoch;
    /** A grid dependency sync orders earlier launches' accesses from this epoch on. */
    uint32_t first_epoch_ordered_by_dependency_sync;
    uint32_t turn_begin_epoch;           /**< start of the running block's turn; no other block has run since */
    uint32_t num_barrier_ordered_epochs; /**< number of epochs at the start of the turn that a barrier has ordered */
    uint32_t block_number;               /**< number of the running block in the grid */
    bool blocks_are_interleaved;         /**< blocks take turns */
    bool has_synced_dependency;          /**< a thread has executed cudaGridDependencySynchronize */
    bool all_have_synced_dependency;     /**< a thread has, and a grid barrier has followed */
    uintptr_t packed_last_load; /**< last load from global or shared memory: its address << 5, plus its byte count */
    struct order_within_block order_within_block;
    struct order_within_warp *order_within_warp;
};

extern struct current_order simt_current_order;

/**
 * Begins a launch, the last of `launches`, which may overlap the others. Discards the record of which block ran at
 * which epochs. Returns false if out of memory.
 */
bool simt_order_begin_launch(uint64_t num_blocks, bool blocks_are_interleaved,
                             const struct overlapping_launches *launches);
/**
 * Makes block `block_number` the running block: for the first time, or with the simt_current_order.order_within_block
 * that it had at the end of its last turn.
 */
void simt_order_begin_block(uint32_t block_number);
void simt_order_resume_block(uint32_t block_number, const struct order_within_block *block);
/** Ends a block and frees its clocks. */
void simt_order_end_block(struct order_within_block *block);

/** Records that a block-wide barrier is complete, which orders all accesses before it. */
void simt_order_record_completed_block_barrier(void);
/** Records that the running thread waits for the launches that the current launch may overlap. */
void simt_order_record_dependency_sync_of_thread(void);
/**
 * Records that a grid-wide barrier is complete. simt_order_apply_grid_barrier_to_block() must then be called for each
 * block of the grid.
 */
void simt_order_record_completed_grid_barrier(void);
void simt_order_apply_grid_barrier_to_block(struct order_within_block *block);
/**
 * Records that a __syncwarp of `synced_lanes` is complete, in a warp whose lanes are `existing_lanes` and whose first
 * thread is `first_thread`. `synced_lanes` may include lanes that the warp does not have.
 */
void simt_order_record_completed_syncwarp(struct order_within_warp *warp, unsigned first_thread,
                                          lane_mask existing_lanes, lane_mask synced_lanes);
/** Records a fence of the running thread, either for its block only or for all threads. */
void simt_order_record_fence(bool in_block);

/**
 * Records an atomic or a volatile access by the running thread at an address. `has_written` is true if the access has
 * written to the address, and `has_read` if it has read the value there.
 */
void simt_order_record_strong_access(uintptr_t address, unsigned bytes, bool has_written, bool has_read);
/** Ends the release/acquire edges of a 4-byte word, because a non-atomic store has overwritten it. */
void simt_order_end_release_edges(uintptr_t address);
/**
 * Returns whether the running thread has executed a fence since its block began, or has synchronised with a thread that
 * has.
 */
bool simt_order_running_thread_follows_fence(void);

/**
 * Releases all accesses ordered before the current operation to the threads that wait on an mbarrier; `released` is the
 * mbarrier's clock.
 */
void simt_order_mbarrier_release(struct vector_clock **released);
/** Adds to an mbarrier's clock a write that `thread`, a number in its block, made at an epoch. */
void simt_order_mbarrier_add_write(struct vector_clock **released, unsigned thread, uint32_t epoch);
/** Acquires an mbarrier's clock for the running thread. */
void simt_order_mbarrier_acquire(struct vector_clock *released);
/**
 * Records a proxy fence of the running thread between its accesses to `space`, an enum memory_space, and those of the
 * asynchronous proxy.
 */
void simt_order_record_proxy_fence(int space);
/**
 * Returns whether a thread's accesses to a space at an epoch precede a proxy fence that is ordered before the current
 * operation.
 */
bool simt_is_access_ordered_by_proxy_fence(uint32_t access_epoch, unsigned access_thread, int space);

/**
 * Returns whether the running thread's accesses at or after an epoch are still unordered relative to those of all other
 * threads.
 */
bool simt_order_own_accesses_unreleased_since(uint32_t epoch);

/** Returns the launch that ran at an epoch and that the current launch may overlap, or NULL if there is none. */
const struct overlapping_launch *simt_overlapping_launch_that_ran_at(uint32_t epoch);
/**
 * Returns the launch that ran after an access and never waited, and therefore keeps a wait of the current launch from
 * ordering the access. Returns NULL if a wait does order it, or if the running thread has not waited.
 */
const struct overlapping_launch *simt_launch_breaking_sync_chain_since(uint32_t access_epoch);

/** Returns the number of the block that ran at an epoch of this launch. */
uint32_t simt_block_running_at(uint32_t epoch);
/** Returns whether the running block ran at an epoch of this launch. */
static inline bool simt_is_epoch_of_running_block(uint32_t epoch)
{
    return epoch >= simt_current_order.turn_begin_epoch ||
           (epoch >= simt_current_order.order_within_block.block_begin_epoch &&
            simt_block_running_at(epoch) == simt_current_order.block_number);
}
/**
 * Returns whether no later access can be ordered after the accesses at an epoch, because the block that made them has
 * ended without releasing anything.
 */
bool simt_epoch_can_never_be_ordered(uint32_t epoch);
/**
 * Returns whether the accesses that thread number `thread` of a block made at `epoch` are ordered before the current
 * access of the running thread, which may be a volatile load.
 */
bool simt_accesses_are_ordered(uint32_t epoch, unsigned thread, bool current_is_volatile_load);
/**
 * Checks simt_accesses_are_ordered() for all threads of a set. If that fails, stores in *unordered_thread the first
 * thread whose accesses are not ordered, and in *has_more_unordered whether there are more such threads.
 */
bool simt_accesses_of_set_are_ordered(uint32_t epoch, const struct thread_set *threads, bool current_is_volatile_load,
                                      unsigned *unordered_thread, bool *has_more_unordered);

#endif
