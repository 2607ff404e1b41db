/**
 * @file lanes.h
 * @brief Lanes, warps, a block, and the launch they belong to: what runs, and what each lane leaves behind.
 *
 * One block runs at a time. Its threads are fibers; the lanes of a warp run one after another, each until it waits or
 * has no more room, and leave a record of events. The layers above issue them as warp instructions, complete what can
 * be completed, and go round again.
 */
#ifndef SIMT_LANES_H
#define SIMT_LANES_H

#include "machine/device_limits.h"
#include "machine/fiber.h"
#include "machine/program_image.h"
#include "memory/device_memory.h"
#include "order/happens_before.h"

/* --- events ------------------------------------------------------------------------------------------------------- */

enum event_kind {
    EVENT_BLOCK, /**< a block of the source begins */
    EVENT_GLOBAL_LOAD,
    EVENT_GLOBAL_STORE,
    EVENT_SHARED_LOAD,
    EVENT_SHARED_STORE,
    EVENT_GLOBAL_ATOMIC,
    EVENT_SHARED_ATOMIC,
    EVENT_COPY_FROM, /**< global memory's side of an asynchronous copy; of 0 bytes, if all of it are zeros */
    EVENT_COPY_TO,   /**< shared memory's side */
    EVENT_BULK_COPY, /**< of a row or a tile, from this offset in global memory; only while memory is watched */
    EVENT_MBARRIER,  /**< an operation on the one at this offset in shared memory; only while memory is watched */
};

/**
 * What one lane did. `key` is its place in the source: most calls minus calls in progress, the number of the block, the
 * number of the event in that block. So of several lanes the one that must go first, deepest call and then earliest in
 * the file, has the smallest key, whatever a compiler made of the source. `access` is kind, bytes and offset; of an
 * EVENT_MBARRIER, the operation in place of the bytes.
 */
struct event {
    uint64_t key;
    uint64_t access;
    uintptr_t pc;
};

enum {
    LANE_EVENTS = 384, /**< room of one lane; that of 32 stays in the second-level cache */
    EVENT_KIND_SHIFT = 56,
    EVENT_BYTES_SHIFT = 48,
    EVENT_DEPTH_SHIFT = 48,
    EVENT_PLACE_SHIFT = 28,   /**< of a block's number in the file */
    EVENT_OUTSIDE_SHIFT = 46, /**< an offset in the program's data, where __device__ variables are, not in the arena */
    CALLS = 16,               /**< of a lane's calls in progress, so many are told apart by where they were made */
    MAX_PASSED = 64,
};
#define EVENT_OFFSET_MASK ((UINT64_C(1) << EVENT_BYTES_SHIFT) - 1)
#define EVENT_OUTSIDE     (UINT64_C(1) << EVENT_OUTSIDE_SHIFT)
#define EVENT_DEPTH_MASK  (UINT64_C(0xffff) << EVENT_DEPTH_SHIFT)
#define EVENT_DEPTH_NONE  EVENT_DEPTH_MASK
#define EVENT_ONE_CALL    (UINT64_C(1) << EVENT_DEPTH_SHIFT)

enum mbarrier_operation { MBARRIER_INIT, MBARRIER_ARRIVE, MBARRIER_EXPECT, MBARRIER_ARRIVE_COPIES, MBARRIER_WAIT };

/* --- lanes, warps, a block ---------------------------------------------------------------------------------------- */

struct lane {
    struct event *cursor; /**< where the next event goes */
    struct event *limit;
    uint64_t key;        /**< of its next event */
    uint64_t depth;      /**< calls in progress of functions that the compiler did not inline, as in a key */
    uintptr_t stack;     /**< lowest byte of this fiber's stack */
    void *stack_pointer; /**< while suspended */
    uint32_t thread;     /**< number in the block */
    uint3 index;         /**< threadIdx */
    struct event *head;  /**< the first event not yet replayed */
    uint32_t parked;     /**< events put aside when the warp's turn ended */
    bool in_pieces;      /**< in an access of more events than fit: replayed before it is done */
    bool patient;        /**< it waits for an mbarrier's phase until that ends, however long */
    uint8_t parity;      /**< of the phase */
    uintptr_t site;      /**< where a lane that waits called from */
    unsigned call;       /**< of a block barrier: which of its line */
    uintptr_t loaded;    /**< as simt_order has it, while suspended */
    uint32_t first_copy; /**< of its asynchronous copies under way, in copies.c; 0: none */
    uint32_t last_copy;
    uint32_t copy_groups; /**< committed since the block began */
    uint32_t mbarrier;    /**< that it waits for, in mbarriers.c */
};

/** An access of lanes that went by a collective at which others waited for them. */
struct passed {
    uint64_t key;
    uint32_t lanes;
    uint32_t waited; /**< lanes that have done the collective without them, for they had returned */
    uintptr_t site;  /**< the collective's */
    const char *name;
};

/** A block issued for a warp whose lanes have not all been seen to go on. */
struct open_step {
    uint32_t mask; /**< lanes that have not gone on yet */
    uint32_t diverged;
    uint64_t successor; /**< key of the block the first of them went on to; 0 until then */
};

struct warp {
    uint32_t lanes;       /**< those that exist */
    uint32_t ready;       /**< may run */
    uint32_t waiting;     /**< at a warp collective */
    uint32_t at_barrier;  /**< at the block's barrier */
    uint32_t at_mbarrier; /**< at one in shared memory */
    uint32_t done;        /**< returned */
    uint32_t closed;      /**< returned, and the replay knows */
    bool parked;          /**< some lanes' events have been put aside */
    int open_count;
    unsigned first; /**< thread number of lane 0 */
    struct open_step open[WARP_LANES];

    /* Of lanes that wait at a collective, or met at the last. */
    uint32_t mask[WARP_LANES];
    uint64_t call[WARP_LANES]; /**< which, and its uniform operands */
    int32_t argument[WARP_LANES];
    uint64_t value[WARP_LANES]; /**< operand in, result out */
    struct passed passed[MAX_PASSED];
    unsigned passed_count;
    uint32_t missed; /**< lanes that did a collective which others passed by */
    struct warp_order order;
    struct products *products; /**< those of its warpgroup, in warpgroup_products.c; NULL: none yet */
};

struct block {
    uint32_t number; /**< in the grid, x fastest */
    unsigned threads;
    unsigned warps;
    unsigned at_grid_barrier; /**< of the threads at a barrier, those at the whole grid's */
    int barrier_count;        /**< what __syncthreads_count and its kin return */
    int barrier_predicate;    /**< running sum of the predicates */
    uint32_t first_mbarrier;  /**< of those it has made, in mbarriers.c */
    unsigned prepared;        /**< fibers that stand at their start or between two blocks */
    struct fiber_stacks stacks;
    size_t mapped;        /**< bytes of this, and of what lies behind it */
    struct event *parked; /**< for every thread, room for what its warp had not replayed when its turn ended */

    /*
     * What a block keeps while others of its grid run: its shared memory, what happened to it, and its place in time.
     */
    unsigned char *shared_copy;
    struct shadow_cell *shared_shadow;
    struct block_order order;

    struct warp warp[BLOCK_WARPS];
    struct lane lane[BLOCK_THREADS];
    /** Of each call in progress of a thread, by its depth: where it was made. */
    uintptr_t caller[BLOCK_THREADS][CALLS];
};

struct launch {
    const char *name;
    const void *kernel;
    dim3 grid;
    dim3 block;
    size_t dynamic_shared;
    void (*call)(const void *arguments);
    const void *arguments;
    size_t argument_bytes;
    size_t parameter_bytes; /**< the kernel's own, without what the simulator puts before them */
    bool cooperative;       /**< all blocks live at once and may wait for each other */
};

/* --- what runs ---------------------------------------------------------------------------------------------------- */

/** Outside kernels `lane` is NULL. */
struct running {
    struct lane *lane;
    struct warp *warp;
    struct lane *warp_lane; /**< lane 0 of the warp */
    uint32_t runnable;      /**< lanes of the warp still to run this round */
    struct block *block;
    bool sleeps; /**< a lane of the warp has called __nanosleep() this round */
};

/** What a launch has done so far: events replayed, and arrivals at shuffles, votes and barriers. */
struct work {
    uint64_t events;
    uint64_t arrivals;
    uint64_t before_block; /**< both, when the last block had ended: each that ends is progress */
};

extern struct running simt_now;
extern struct launch simt_current;
extern struct work simt_work;

/**
 * Whether two lanes of the block that runs, which wait, came to one call by the same calls, as far as addresses tell.
 */
static inline bool lanes_at_one_call(const struct lane *a, const struct lane *b)
{
    const uint64_t kernel = (EVENT_DEPTH_NONE - EVENT_ONE_CALL) >> EVENT_DEPTH_SHIFT;
    const uintptr_t *callers = simt_now.block->caller[a->thread];
    const uintptr_t *others = simt_now.block->caller[b->thread];
    bool same = a->site == b->site && a->call == b->call && a->depth == b->depth;

    for (uint64_t call = a->depth >> EVENT_DEPTH_SHIFT; same && call < kernel; call++)
        same = callers[call % CALLS] == others[call % CALLS];
    return same;
}

/**
 * The same by the source, where an inlined function or an unrolled loop has made copies of one call; false, and the
 * launch has ended, if two lanes that met at a `call` came to it from different places, or by different calls.
 */
bool simt_check_together(const struct lane *lane, const struct lane *other, const char *kind, const char *call);

/** Makes `lane` the one whose events are recorded; the caller switches to its stack. */
static inline void lane_enter(struct lane *lane)
{
    simt_now.lane = lane;
    simt_order.thread = lane->thread << CELL_THREAD_SHIFT;
    simt_order.loaded = lane->loaded;
    simt_thread_idx = lane->index;
}

/** Makes it the block's warp whose lanes run next. */
void simt_warp_enter(struct block *block, struct warp *warp);

/** Lets the given lanes of the warp run, one after another, each until it leaves. */
void simt_lanes_run(uint32_t lanes);

/** The running lane stops for now: the next runnable lane of the warp goes on, or else the scheduler. */
void simt_lane_leave(void);

/** What a fiber runs: the kernel, once per block. */
void simt_lane_main(void);

#endif
