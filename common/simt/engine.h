/**
 * @file engine.h
 * @brief What the simulator's own files share: lanes, warps, a block, and the state that the hooks read.
 *
 * One block runs at a time. Its threads are fibers; the lanes of a warp run one after another, each until it waits or its
 * trace is full, and leave a trace of events. The scheduler then replays the traces as warp instructions, completes what
 * can be completed, and goes round again.
 */
#ifndef SIMT_ENGINE_H
#define SIMT_ENGINE_H

#include "cuda_runtime.h"
#include "device_calls.h"
#include "fiber.h"
#include "simt.h"

enum {
    WARP_LANES = 32,
    BLOCK_THREADS = 1024,
    BLOCK_WARPS = BLOCK_THREADS / WARP_LANES,
    TRACE_EVENTS = 512,               /**< one lane's trace; 32 of them stay in the second-level cache */
    SHARED_BYTES_DEFAULT = 48 * 1024, /**< dynamic shared memory a kernel may have without asking */
    SHARED_BYTES_LIMIT = 227 * 1024,
    SHARED_BYTES_RESERVED = 1024, /**< of each block, by the system */

    /* The device that it pretends to be, as far as cooperative launches can tell. */
    PROCESSORS = 8,
    PROCESSOR_THREADS = 2048,
    PROCESSOR_BLOCKS = 32,
    PROCESSOR_SHARED_BYTES = 228 * 1024,
};

#define SIMT_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define SIMT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define SIMT_CALLER()            ((uintptr_t)__builtin_return_address(0))

/* --- events ------------------------------------------------------------------------------------------------------- */

enum event_kind {
    EVENT_BASIC_BLOCK,
    EVENT_GLOBAL_LOAD,
    EVENT_GLOBAL_STORE,
    EVENT_SHARED_LOAD,
    EVENT_SHARED_STORE,
    EVENT_GLOBAL_ATOMIC,
    EVENT_SHARED_ATOMIC,
};

/**
 * What one lane did. `key` is (most calls minus calls in progress, program counter), so of several lanes the one that must
 * go first, deepest call and then smallest address, has the smallest key. `access` is kind, bytes and offset.
 */
struct event {
    uint64_t key;
    uint64_t access;
};

enum { EVENT_KIND_SHIFT = 56, EVENT_BYTES_SHIFT = 48, EVENT_DEPTH_SHIFT = 48 };
#define EVENT_OFFSET_MASK ((UINT64_C(1) << EVENT_BYTES_SHIFT) - 1)
#define EVENT_PC_MASK     ((UINT64_C(1) << EVENT_DEPTH_SHIFT) - 1)
#define EVENT_DEPTH_NONE  (UINT64_C(0xffff) << EVENT_DEPTH_SHIFT)
#define EVENT_ONE_CALL    (UINT64_C(1) << EVENT_DEPTH_SHIFT)

/* --- lanes, warps, a block ---------------------------------------------------------------------------------------- */

struct lane {
    struct event *cursor; /**< where the next event goes */
    struct event *limit;
    uint64_t depth;      /**< upper part of the key of every event now */
    uintptr_t stack;     /**< lowest byte of this fiber's stack */
    void *stack_pointer; /**< while suspended */
    uint32_t thread;     /**< number in the block */
    uint3 index;         /**< threadIdx */
    struct event *head;  /**< the first event not yet replayed */
    uint32_t parked;     /**< events put aside when the warp's turn ended */
    uintptr_t site;      /**< where a lane that waits called from */
};

/** A basic block issued for a warp whose lanes have not all been seen to go on. */
struct open_step {
    uint32_t mask; /**< lanes that have not gone on yet */
    uint32_t diverged;
    uint64_t successor; /**< key of the block the first of them went on to; 0 until then */
};

enum collective {
    COLLECTIVE_SHUFFLE_INDEX,
    COLLECTIVE_SHUFFLE_UP,
    COLLECTIVE_SHUFFLE_DOWN,
    COLLECTIVE_SHUFFLE_XOR,
    COLLECTIVE_BALLOT,
    COLLECTIVE_ANY,
    COLLECTIVE_ALL,
    COLLECTIVE_MATCH_ANY,
    COLLECTIVE_MATCH_ALL,
    COLLECTIVE_REDUCE_ADD,
    COLLECTIVE_REDUCE_MIN,
    COLLECTIVE_REDUCE_MAX,
    COLLECTIVE_REDUCE_MIN_SIGNED,
    COLLECTIVE_REDUCE_MAX_SIGNED,
    COLLECTIVE_REDUCE_AND,
    COLLECTIVE_REDUCE_OR,
    COLLECTIVE_REDUCE_XOR,
    COLLECTIVE_SYNCWARP,
};

struct warp {
    uint32_t lanes;      /**< those that exist */
    uint32_t ready;      /**< may run */
    uint32_t waiting;    /**< at a warp collective */
    uint32_t at_barrier; /**< at the block's barrier */
    uint32_t done;       /**< returned */
    uint32_t closed;     /**< returned, and the replay knows */
    uint32_t sync_end;   /**< what the warp did at ticks below this is ordered by a __syncwarp of all lanes */
    uint32_t partial;    /**< lanes that a partial __syncwarp has ordered in this block */
    bool parked;         /**< some lanes' events have been put aside */
    int open_count;
    unsigned first; /**< thread number of lane 0 */
    struct open_step open[WARP_LANES];
    uint32_t mask[WARP_LANES];
    uint64_t call[WARP_LANES]; /**< collective and its uniform operands; lanes that meet agree on CALL_AGREED of it */
    int32_t argument[WARP_LANES];
    uint64_t value[WARP_LANES];             /**< operand in, result out */
    uint32_t known[WARP_LANES][WARP_LANES]; /**< known[i][j]: lane i has seen what lane j did at ticks below this */
};

struct block {
    uint32_t number; /**< in the grid, x fastest */
    unsigned threads;
    unsigned warps;
    unsigned at_grid_barrier; /**< of the threads at a barrier, those at the whole grid's */
    int barrier_count;        /**< what __syncthreads_count and its kin return */
    int barrier_predicate;    /**< running sum of the predicates */
    unsigned prepared;        /**< fibers that stand at their start or between two blocks */
    struct fiber_stacks stacks;
    struct event *parked; /**< for every thread, room for what its warp had not replayed when its turn ended */

    /* What a block keeps while others of its grid run: its shared memory, what happened to it, and its place in time. */
    unsigned char *shared_copy;
    struct shadow_cell *shared_shadow;
    uint32_t block_tick;
    uint32_t barrier_end;
    uint32_t acquire_end;

    struct warp warp[BLOCK_WARPS];
    struct lane lane[BLOCK_THREADS];
};

/* --- what the hooks read ------------------------------------------------------------------------------------------ */

struct shadow_cell;

/** Everything a hook needs, in a few cache lines. Outside kernels every range is empty and `lane` is NULL. */
struct simt_now {
    struct lane *lane;
    struct warp *warp;

    uintptr_t arena;    /**< global memory handed out so far */
    size_t arena_quick; /**< its bytes; 0 while a block is logged, so that its accesses go the slow way */
    struct shadow_cell *arena_shadow;
    uintptr_t shared; /**< static shared memory and the dynamic array behind or before it: one TLS block */
    size_t shared_quick;
    struct shadow_cell *shared_shadow;
    size_t shared_end;    /**< offset of the first byte of the dynamic array that this launch did not ask for */
    size_t shared_resume; /**< offset of the first byte behind that array */

    /* The order of things. Ticks count synchronisations; every access happens at the current tick. */
    uint32_t tick;
    uint32_t launch_tick;   /**< earlier ticks belong to earlier launches */
    uint32_t block_tick;    /**< this block began; shared memory written earlier is not this block's */
    uint32_t segment_tick;  /**< this block has been running without another in between since */
    uint32_t ordered_ticks; /**< ticks of the segment, from its start, that a barrier has ordered */
    uint32_t barrier_end;   /**< segment_tick + ordered_ticks */
    uint32_t fence_end;     /**< some thread has made what it did before this visible (__threadfence) */
    uint32_t acquire_end;   /**< this block has read an atomic since */
    uint32_t me;            /**< the running thread, shifted into a shadow cell's thread field */

    uint32_t runnable;      /**< lanes of the warp still to run this round */
    struct lane *warp_lane; /**< lane 0 of the warp */
    void *scheduler;        /**< the scheduler's stack pointer while a lane runs */
    struct block *block;
    bool faulted;
    size_t arena_bytes;
    size_t shared_bytes;
};

extern struct simt_now simt_now;
extern struct simt_counters simt_counters;
extern uint3 simt_thread_idx, simt_block_idx, simt_block_dim, simt_grid_dim;

/** Makes `lane` the one whose events are recorded; the caller switches to its stack. */
static inline void lane_enter(struct lane *lane)
{
    simt_now.lane = lane;
    simt_now.me = lane->thread << 22;
    simt_thread_idx = lane->index;
}

/** The running lane stops for now: the next runnable lane of the warp goes on, or else the scheduler. */
void simt_lane_leave(void);

/* --- one kernel --------------------------------------------------------------------------------------------------- */

struct launch {
    const char *name;
    dim3 grid;
    dim3 block;
    size_t dynamic_shared;
    void (*call)(const void *arguments);
    const void *arguments;
    size_t argument_bytes;
    bool cooperative; /**< all blocks live at once and may wait for each other */
};

extern struct launch simt_current;

/** What is counted from here to simt_counters_end() is of the kernel that a launch names so. False: no memory. */
bool simt_counters_begin(const char *written);
void simt_counters_end(void);

/** 32 traces of TRACE_EVENTS each. */
extern struct event *simt_trace;
/** Where the warp last replayed was. */
extern uintptr_t simt_last_pc;
/** Events and arrivals a launch may have, and the sum of both counters at which this one is at its end. */
extern uint64_t simt_event_limit;
extern uint64_t simt_event_budget;

/** What a fiber runs: the kernel, once per block. */
void simt_lane_main(void);

/** Every thread of the block is about to start. */
void simt_block_begin(struct block *block);

enum block_state { BLOCK_RUNS, BLOCK_AT_GRID_BARRIER, BLOCK_DONE };

/** Runs the block's warps until all threads have returned, wait for the grid, have had their turn, or simt_now.faulted. */
enum block_state simt_block_go_on(struct block *block);

/** Lets the threads of a block go on that all wait at a barrier. */
void simt_block_release(struct block *block);

/** Finds this thread's shared memory and makes room for a block, once; what is in the way of running kernels if false. */
bool simt_grid_prepare(void);

/** Runs the blocks of the launch: one after another, or all together if it is cooperative. */
cudaError_t simt_grid_run(const struct launch *launch);

/** How many blocks of such a shape one of the pretended processors could hold; a cooperative launch needs room for all. */
unsigned simt_blocks_per_processor(unsigned threads, size_t dynamic_shared);

/** Completes every collective of `warp` whose lanes are all there. */
void simt_collectives_complete(struct warp *warp);

/** The lanes that a waiting lane still waits for. */
uint32_t simt_collective_missing(const struct warp *warp, unsigned lane);
/** Says what a waiting lane waits for and where the first of the `missing` lanes is instead. */
void simt_collective_describe(const struct block *block, const struct warp *warp, unsigned lane, uint32_t missing,
                              char *text, size_t size);

/** Replays what the lanes of the warp have done, up to where a lane that can still run might do something first. */
void simt_replay(struct warp *warp);

/** A block barrier of the whole block is complete: what came before is ordered. */
void simt_order_barrier(void);
/** A barrier of the whole grid is complete. */
void simt_order_grid(void);
void simt_order_syncwarp(struct warp *warp, uint32_t mask);
/** Starts the next tick. */
void simt_tick(void);

/** From this tick on block number `block` runs. */
void simt_segment_begin(uint32_t block);
/** The number of the block that ran at a tick of this launch. */
uint32_t simt_block_at(uint32_t tick);
/** Forgets which block ran when: a launch begins. */
void simt_segments_clear(void);

/* --- faults ------------------------------------------------------------------------------------------------------- */

/**
 * The running lane did something wrong at `pc` (0: unknown). Writes the line, ends the launch, does not return.
 * `format` describes it after "thread (x,y,z) of block (x,y,z) "; "%" directives as in printf.
 */
_Noreturn void simt_fault_here(cudaError_t error, uintptr_t pc, const char *kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** As simt_fault_here, for the scheduler: names `lane`, returns, and simt_now.faulted is set. */
void simt_fault_lane(cudaError_t error, const struct lane *lane, uintptr_t pc, const char *kind, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));

/** A launch that was refused before it began. */
void simt_fault_launch(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** While a kernel runs, signals that its instructions raise are faults. */
bool simt_signals_catch(void);
void simt_signals_release(void);

/** Forgets the last fault's line. */
void simt_fault_clear(void);

/** Finishes the line of the last fault on the host's stack: resolves places. Does nothing when there was none. */
void simt_fault_resolve(void);
cudaError_t simt_fault_error(void);

/** Marks a place in a fault's text that simt_fault_resolve() replaces by ":line" or "file:line". */
#define SIMT_PLACE "\001%" PRIxPTR "\002"

enum { PLACE_TEXT = 512 };

/** "file:line" of the call that returns to `pc`, or function+offset, or "?". */
void simt_locate(uintptr_t pc, char text[PLACE_TEXT]);
/** The same for many, by one process. */
void simt_locate_all(const uintptr_t *pc, size_t count, char (*text)[PLACE_TEXT]);

/** Dimension-wise thread index of a thread number of the current launch, and block index of a block number. */
uint3 simt_thread_index(unsigned thread);
uint3 simt_block_index(uint32_t block);

/** Reads of shared bytes that nobody had written, noted but not yet reported: report, and whether there were any. */
bool simt_uninitialised_fault(void);
void simt_uninitialised_forget(void);

/* --- the program's image ------------------------------------------------------------------------------------------ */

struct image {
    uintptr_t bias;      /**< what the loader added to addresses in the file */
    uintptr_t low, high; /**< all of it */
    uintptr_t text_low, text_high;
    uintptr_t data_low, data_high; /**< writable: __device__ variables live here */
    uintptr_t constant_low, constant_high;
    uintptr_t index_low, index_high; /**< threadIdx and its kin, for compilers that instrument constants */
    struct shadow_cell *data_shadow;
};

extern struct image simt_image;

/** Finds the program's segments, once. */
bool simt_image_find(void);

/** The calling OS thread's shared memory: its block of the program's thread-local storage, and the dynamic array in it. */
bool simt_shared_find(uintptr_t *low, size_t *bytes, size_t *dynamic);

/* --- memory ------------------------------------------------------------------------------------------------------- */

/** Reserves the arena and its shadow, once. */
bool simt_arena_reserve(void);
uintptr_t simt_arena_base(void);
size_t simt_arena_used(void);
struct shadow_cell *simt_arena_shadow(void);

/** Forgets who touched what, but not what is off limits. */
void simt_arena_forget_ticks(void);
void simt_unmap(void *memory, size_t bytes);

/** For messages: which allocation `address` is in, before or behind. Writes a few words. */
void simt_arena_describe(uintptr_t address, char *text, size_t size);

/** The number of the allocation that holds an offset in the arena, in the order of addresses, and the offset in it. */
int32_t simt_arena_allocation(uint64_t offset, uint64_t *inside);

/** Zeroed memory from the system, committed when touched; NULL when there is none. */
void *simt_map(size_t bytes);

/** Makes `error` what cudaGetLastError() returns next; cudaSuccess changes nothing. Returns it. */
cudaError_t simt_set_error(cudaError_t error);
/** As simt_set_error(), and nothing works until it is read. */
cudaError_t simt_set_sticky_error(cudaError_t error);
/** The error that keeps launches from running until it is read, or cudaSuccess. */
cudaError_t simt_sticky_error(void);

/** The limit that cudaFuncSetAttribute set for a kernel. */
size_t simt_shared_limit(const void *kernel);

#endif
