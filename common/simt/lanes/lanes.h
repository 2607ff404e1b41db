/**
 * @file lanes.h
 * @brief State of the running launch (lanes, warps, a block) and the events that each lane records. Used by all higher
 *        layers.
 *
 * One block runs at a time. Its threads are fibers. The lanes of a warp run one after another, each until it waits or
 * its event buffer is full, and record events. The higher layers issue the events as warp instructions, complete
 * collectives and barriers, and run the lanes again.
 */
#ifndef SIMT_LANES_H
#define SIMT_LANES_H

#include "device_calls.h"
#include "machine/device_limits.h"
#include "machine/fault.h"
#include "machine/fiber.h"
#include "machine/program_image.h"
#include "memory/device_memory.h"
#include "order/happens_before.h"

/* --- events ------------------------------------------------------------------------------------------------------- */

enum event_kind {
    EVENT_BASIC_BLOCK, /**< start of a basic block in the source */
    EVENT_GLOBAL_LOAD,
    EVENT_GLOBAL_STORE,
    EVENT_SHARED_LOAD,
    EVENT_SHARED_STORE,
    EVENT_GLOBAL_ATOMIC,
    EVENT_SHARED_ATOMIC,
    EVENT_ASYNC_COPY_READ,  /**< global side of an asynchronous copy; 0 bytes if it writes only zeros */
    EVENT_ASYNC_COPY_WRITE, /**< shared side of an asynchronous copy */
    EVENT_BULK_COPY, /**< copy of a row or a tile from this offset in global memory; only while memory is watched */
    EVENT_MBARRIER,  /**< operation on the mbarrier at this offset in shared memory; only while memory is watched */
};

/**
 * An event of one lane. `position_key` is its position in the source: the largest possible number of calls minus the
 * calls in progress, the number of the basic block, and the number of the event in that block. The lane that must go
 * first has the smallest key, regardless of how the compiler has ordered the code: it has the deepest call and, at
 * equal depth, the earliest position in the file. `packed_access` consists of kind, bytes and offset; for an
 * EVENT_MBARRIER, the operation replaces the bytes.
 *
 * For warps of 64 lanes, the event's number in the block consists of the number of a step, which increases with each
 * collective and call, and the number of the event in that step. Lanes at the same step are at the same position, even
 * if some of them made accesses that others did not.
 */
struct lane_event {
    uint64_t position_key;
    uint64_t packed_access;
    uintptr_t pc;
};

enum {
    LANE_EVENT_CAPACITY = 384, /**< number of events in a lane's buffer; the buffers of a warp fit in the L2 cache */
    EVENT_KIND_SHIFT = 56,
    EVENT_BYTES_SHIFT = 48,
    KEY_CALLS_LEFT_SHIFT = 48,
    KEY_BASIC_BLOCK_SHIFT = 28, /**< bit position, in a key, of the basic block's number */
    KEY_STEP_SHIFT = 14,        /**< bit position, in a key, of the step's number */
    EVENT_OFFSET_IN_PROGRAM_DATA_SHIFT =
        46,              /**< flag: the offset is in the program's data (__device__ variables), not in the arena */
    MAX_CALL_SITES = 16, /**< number of a lane's innermost calls whose call sites are kept */
    MAX_ACCESSES_BYPASSING_COLLECTIVES = 64,
};
#define EVENT_OFFSET_MASK             ((UINT64_C(1) << EVENT_BYTES_SHIFT) - 1)
#define EVENT_OFFSET_IN_PROGRAM_DATA  (UINT64_C(1) << EVENT_OFFSET_IN_PROGRAM_DATA_SHIFT)
#define KEY_CALLS_LEFT_MASK           (UINT64_C(0xffff) << KEY_CALLS_LEFT_SHIFT)
#define KEY_CALLS_LEFT_OUTSIDE_KERNEL KEY_CALLS_LEFT_MASK
#define KEY_CALLS_LEFT_UNIT           (UINT64_C(1) << KEY_CALLS_LEFT_SHIFT)
#define KEY_STEP_UNIT                 (UINT64_C(1) << KEY_STEP_SHIFT)

enum mbarrier_operation {
    MBARRIER_INIT,
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_EXPECT,
    MBARRIER_ARRIVE_COPIES,
    MBARRIER_WAIT
};

/* --- lanes, warps, a block ---------------------------------------------------------------------------------------- */

/**
 * Values of lane.barrier_id for barriers other than __syncthreads(). NAMED_BARRIER is added to the barrier's number,
 * GROUP_BARRIER, for the sync() of a cooperative group, to that of the call, and COUNT_BARRIER, AND_BARRIER and
 * OR_BARRIER, for __syncthreads_count() and its likes, also to that of the call.
 */
enum barrier_id_flag {
    GRID_BARRIER = 0x40000000,
    NAMED_BARRIER = 0x20000000,
    GROUP_BARRIER = SIMT_GROUP_SYNC_CALL_FLAG,
    COUNT_BARRIER = 0x08000000,
    AND_BARRIER = 0x04000000,
    OR_BARRIER = 0x02000000
};

struct lane {
    struct lane_event *next_event; /**< where the next event is recorded */
    struct lane_event *event_buffer_end;
    uint64_t next_position_key; /**< key of the lane's next event */
    uint64_t calls_left;        /**< largest number of non-inlined calls minus those in progress, as in the key */
    uintptr_t stack_low;        /**< lowest byte of the fiber's stack */
    void *stack_pointer;        /**< saved stack pointer while suspended */
    uint32_t thread;            /**< thread number in the block */
    uint3 thread_index;         /**< threadIdx */
    struct lane_event *first_unreplayed_event; /**< the first event not yet replayed */
    uint32_t num_parked_events;                /**< number of events saved when the warp's turn ended */
    /** The access has more events than the buffer holds, so some are replayed early. */
    bool access_exceeds_event_buffer;
    bool waits_without_time_limit; /**< the wait for an mbarrier phase has no time limit */
    uint8_t awaited_parity;        /**< parity of the awaited phase */
    uintptr_t wait_site;           /**< call site of the collective or barrier at which the lane waits */
    unsigned barrier_id; /**< for a block barrier: distinguishes the calls on one line; or an enum barrier_id_flag */
    uintptr_t packed_last_load; /**< value of simt_current_order.packed_last_load while the lane is suspended */
    uint32_t first_async_copy;  /**< first asynchronous copy in flight, in copies.c; 0 if none */
    uint32_t last_async_copy;
    uint32_t num_committed_copy_groups; /**< number of groups committed since the block began */
    uintptr_t group_wait_site;          /**< call site of the last wait for groups of copies, or 0 */
    uint32_t num_groups_at_group_wait;  /**< number of groups that had been committed at that wait */
    bool no_group_since_previous_wait;  /**< no group had been committed between that wait and the one before */
    uint32_t num_groups_left_by_wait;   /**< number of groups that the wait let be under way */
    uint32_t awaited_mbarrier;          /**< awaited mbarrier, in mbarriers.c */
    /** The innermost frame, in active_lanes.c; NULL for the kernel. */
    const struct simt_call_or_iteration_frame *call_or_iteration_frame;
    uintptr_t register_request_site; /**< call site of the last request for registers, in warpgroup_products.c */
    uint32_t requested_registers;    /**< number of registers last requested; 0 if none were requested */
    uint32_t register_requests_hash; /**< hash of all the lane's requests */
    uint32_t num_polls; /**< number of the lane's polls in this turn of its warp (see struct launch_progress) */
    uintptr_t loads_since_poll_hash; /**< hash of the addresses of the lane's plain loads since its last poll */
    uintptr_t loads_hash_at_poll;    /**< value of `loads_since_poll_hash` at the last poll */
    uintptr_t last_polled_address;
};

/** An access by lanes that bypassed a collective at which other lanes waited for them. */
struct access_bypassing_collective {
    uint64_t position_key;
    lane_mask bypassing_lanes;
    lane_mask lanes_that_had_waited; /**< lanes that completed the collective without them, which had returned */
    uintptr_t collective_site;       /**< call site of the collective */
    const char *collective_name;
};

/** A basic block issued for a warp, kept until the next block of each of its lanes is known. */
struct branch_awaiting_successors {
    lane_mask unresolved_lanes; /**< lanes whose next block is not known yet */
    lane_mask returned_lanes;   /**< lanes that have returned after the block */
    uint32_t has_diverged;
    uint64_t successor_key; /**< key of the first next block that became known; 0 until then */
    uintptr_t successor_pc; /**< address of that block */
};

struct warp {
    lane_mask lanes;               /**< lanes that exist */
    lane_mask ready_lanes;         /**< lanes that can run */
    lane_mask lanes_at_collective; /**< lanes at a warp collective */
    lane_mask lanes_at_barrier; /**< lanes at a barrier of the block, a group or the grid; lane.barrier_id says which */
    lane_mask lanes_at_mbarrier;      /**< lanes at an mbarrier */
    lane_mask lanes_at_iteration_end; /**< waiting lanes that have ended an iteration of a loop */
    lane_mask finished_lanes;         /**< lanes that have returned or faulted */
    lane_mask faulted_lanes; /**< lanes that a fault ended, and lanes that would wait for these at a collective */
    lane_mask fully_replayed_lanes; /**< returned lanes that the replay has processed */
    lane_mask bypassing_lanes;      /**< lanes that returned instead of entering a block, at the last such branch */
    uintptr_t bypassed_block_pc;    /**< that block, which other lanes entered */
    bool has_parked_events;         /**< events of some lanes have been saved */
    int num_branches_awaiting_successors;
    unsigned first_thread; /**< thread number of lane 0 */
    struct branch_awaiting_successors branches_awaiting_successors[WARP_LANES];

    /* State of lanes that wait at a collective, or that completed the last one. */
    lane_mask collective_mask[WARP_LANES];
    uint64_t collective_call_key[WARP_LANES]; /**< the collective and its uniform operands */
    int32_t collective_argument[WARP_LANES];
    uint64_t collective_value[WARP_LANES]; /**< operand before the collective, result after it */
    struct access_bypassing_collective accesses_bypassing_collectives[MAX_ACCESSES_BYPASSING_COLLECTIVES];
    unsigned num_accesses_bypassing_collectives;
    lane_mask lanes_past_bypassed_collective; /**< lanes that completed a collective that other lanes bypassed */
    struct order_within_warp ordering;
    struct products *wgmma_products; /**< wgmma products, in warpgroup_products.c; NULL if there are none yet */
};

struct block {
    uint32_t number; /**< block number in the grid, x fastest */
    unsigned num_threads;
    unsigned num_warps;
    unsigned num_threads_at_grid_barrier; /**< number of threads that wait at the grid barrier */
    int barrier_result;                   /**< result of __syncthreads_count and its variants */
    int barrier_predicate_sum;            /**< running sum of the predicates */
    uint64_t opened_barriers_hash;        /**< set of the call sites at which a barrier has opened, as hashes */
    uint32_t first_mbarrier;              /**< first of the block's mbarriers, in mbarriers.c; 0 if none */
    bool has_register_requests;           /**< a thread has called simt_request_registers() */
    unsigned num_prepared_fibers;         /**< number of fibers that have not started yet or are between two blocks */
    struct fiber_stacks stacks;
    size_t mapped_bytes; /**< mapped bytes: this structure and the memory after it */
    struct lane_event
        *parked_events; /**< buffer for each thread: its events that were not replayed when its warp's turn ended */

    /*
     * State that a block keeps while other blocks of its grid run: its shared memory, the shadow of that memory, and
     * its epochs.
     */
    unsigned char *saved_shared_memory;
    struct shadow_cell *shared_shadow;
    struct order_within_block ordering;

    struct warp warp[BLOCK_WARPS];
    struct lane lane[BLOCK_THREADS];
    /** Call sites of each thread's calls in progress, indexed by lane.calls_left modulo MAX_CALL_SITES. */
    uintptr_t call_sites[BLOCK_THREADS][MAX_CALL_SITES];
};

/** The running launch. */
struct launch {
    const char *name;
    const void *kernel;
    dim3 grid;
    dim3 block;
    size_t dynamic_shared_bytes;
    void (*call)(const void *arguments);
    const void *arguments;
    size_t argument_bytes;
    size_t parameter_bytes;    /**< excluding the parameters that the simulator inserts before those of the kernel */
    bool is_cooperative;       /**< all blocks are resident at once and may wait for each other */
    bool may_overlap_previous; /**< may start before the previous launch in its stream has ended */
    uintptr_t call_site;       /**< where the host made the launch */
};

/* --- running lane, warp and block --------------------------------------------------------------------------------- */

/** The running lane, warp and block. Outside kernels `lane` is NULL. */
struct running_state {
    struct lane *lane;
    struct warp *warp;
    struct lane *warp_lanes;  /**< lane 0 of the warp */
    lane_mask runnable_lanes; /**< lanes of the warp that have yet to run in this round */
    struct block *block;
    bool has_called_nanosleep; /**< a lane of the warp has called __nanosleep() in this round */
};

/**
 * Counts that grow as long as a launch's threads run: replayed events, arrivals at shuffles, votes and barriers, and
 * polls (volatile loads and atomics). The scheduler compares them with its limit on events, to detect endless loops.
 */
struct launch_progress {
    uint64_t num_replayed_events;
    uint64_t num_collective_arrivals;
    uint64_t num_polls;
    /** Value of simt_launch_progress_num_counted_events() when the last block ended, which is progress. */
    int64_t events_at_last_block_end;
    uint64_t num_resident_blocks; /**< more than 1 in a cooperative launch */
    /**
     * Number of polls since a thread last made progress: executed a store, changed a value with an atomic, made
     * different plain loads between two polls than before, or ran for a turn without polling. If this number becomes
     * too large, all threads are polling for values that none of them writes.
     */
    uint64_t num_polls_since_progress;
};

extern struct running_state simt_running;
extern struct launch simt_current_launch;
extern struct launch_progress simt_launch_progress;

/**
 * Returns the number of events and arrivals so far that count towards the limit. A poll does not, but the branch of its
 * loop does: threads may poll for longer than they may run otherwise, but not for ever.
 */
static inline int64_t simt_launch_progress_num_counted_events(void)
{
    return (int64_t)(simt_launch_progress.num_replayed_events + simt_launch_progress.num_collective_arrivals) -
           (int64_t)simt_launch_progress.num_polls;
}

/** Stores the return addresses of the running lane's innermost calls in progress, for a fault message. */
void simt_store_lane_callers(uintptr_t callers[NUM_FAULT_CALLERS]);
/**
 * Returns the address of an access to global memory that a lane of the running warp has made at the program counter
 * `pc`, that has not been replayed yet, and for which matches(address, reference) is true; returns 0 if there is none.
 */
uintptr_t simt_find_unreplayed_access_address(uintptr_t pc, bool (*matches)(uintptr_t address, uintptr_t reference),
                                              uintptr_t reference);
/** Ends the running lane at `pc` because of a fault; returns only if no lane runs. */
void simt_end_faulted_lane(uintptr_t pc);

/**
 * Checks by return addresses whether two waiting lanes of the running block reached the same call through the same
 * calls.
 */
static inline bool lanes_reached_same_call_addresses(const struct lane *a, const struct lane *b)
{
    const uint64_t kernel = (KEY_CALLS_LEFT_OUTSIDE_KERNEL - KEY_CALLS_LEFT_UNIT) >> KEY_CALLS_LEFT_SHIFT;
    const uintptr_t *callers = simt_running.block->call_sites[a->thread];
    const uintptr_t *others = simt_running.block->call_sites[b->thread];
    bool same = a->wait_site == b->wait_site && a->barrier_id == b->barrier_id && a->calls_left == b->calls_left;

    if (a->barrier_id & NAMED_BARRIER)
        return a->barrier_id == b->barrier_id;
    for (uint64_t call = a->calls_left >> KEY_CALLS_LEFT_SHIFT; same && call < kernel; call++)
        same = callers[call % MAX_CALL_SITES] == others[call % MAX_CALL_SITES];
    return same;
}

/**
 * Performs the same check as lanes_reached_same_call_addresses(), but by source lines, because inlining a function or
 * unrolling a loop duplicates a call. If the two lanes reached their calls, whose names are `call` and `other_call`, on
 * different lines or through different calls, ends the launch and returns false.
 */
bool simt_check_lanes_reached_same_call_lines(const struct lane *lane, const struct lane *other, const char *fault_kind,
                                              const char *call, const char *other_call);

/** Returns whether a lane has room for events; a lane without room waits until some events have been replayed. */
static inline bool lane_has_event_room(const struct lane *lane)
{
    return lane->next_event < lane->event_buffer_end - LANE_EVENT_CAPACITY / 2;
}

/** Returns the first key of the step that follows the step of `key`. */
static inline uint64_t key_of_next_step(uint64_t key)
{
    return (key | (KEY_STEP_UNIT - 1)) + 1;
}

/** Makes `lane` the running lane, whose events are recorded; the caller switches to its stack. */
static inline void set_running_lane(struct lane *lane)
{
    simt_running.lane = lane;
    simt_current_order.packed_thread = lane->thread << WRITE_THREAD_SHIFT;
    simt_current_order.packed_last_load = lane->packed_last_load;
    simt_thread_idx = lane->thread_index;
}

/** Makes `warp` the warp whose lanes run next. */
void simt_set_running_warp(struct block *block, struct warp *warp);

/** Runs the given lanes of the warp, one after another, each until it is suspended. */
void simt_lanes_run(lane_mask lanes);

/** Suspends the running lane: switches to the next runnable lane of the warp, or to the scheduler if there is none. */
void simt_lane_suspend(void);

/** Runs the kernel once per block; the entry point of every fiber. */
void simt_lane_main(void);

#endif
