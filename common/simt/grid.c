/**
 * @file grid.c
 * @brief The blocks of a launch: each in turn on the same shared memory, or all together for a cooperative launch.
 *
 * Blocks that live together take turns too. One that gives up its turn takes its shared memory with it: the bytes are put
 * aside and come back with it, so that one OS thread's thread-local storage serves them all.
 */
#include "log.h"
#include "shadow.h"

#include <string.h>

enum { LIVE_BLOCKS = PROCESSORS * PROCESSOR_THREADS / WARP_LANES };

struct event *simt_trace;

static struct shared {
    uintptr_t low;
    size_t bytes;
    size_t dynamic; /**< offset of the dynamic array */
    size_t shadow_bytes;
} shared;

/** The block of launches that are not cooperative, and the first of those that are. */
static struct block *first_block;

/* --- storage ------------------------------------------------------------------------------------------------------ */

static void block_free(struct block *block)
{
    if (!block)
        return;
    fiber_stacks_unmap(&block->stacks);
    simt_unmap(block->shared_shadow, shared.shadow_bytes);
    simt_unmap(block->shared_copy, shared.bytes);
    simt_unmap(block->parked, (size_t)BLOCK_THREADS * TRACE_EVENTS * sizeof *block->parked);
    simt_unmap(block, sizeof *block);
}

static struct block *block_new(unsigned threads)
{
    struct block *block = simt_map(sizeof *block);

    if (!block)
        return NULL;
    block->shared_shadow = simt_map(shared.shadow_bytes);
    block->shared_copy = simt_map(shared.bytes);
    block->parked = simt_map((size_t)BLOCK_THREADS * TRACE_EVENTS * sizeof *block->parked);
    if (!block->shared_shadow || !block->shared_copy || !block->parked || !fiber_stacks_map(&block->stacks, threads)) {
        block_free(block);
        return NULL;
    }
    simt_variables_mark(block->shared_shadow, shared.dynamic);
    return block;
}

bool simt_grid_prepare(void)
{
    if (!simt_shared_find(&shared.low, &shared.bytes, &shared.dynamic))
        return false;
    simt_variables_find(shared.bytes, shared.dynamic);
    shared.shadow_bytes = (shared.bytes + 16) / 4 * sizeof(struct shadow_cell);
    if (!simt_trace)
        simt_trace = simt_map(WARP_LANES * TRACE_EVENTS * sizeof *simt_trace);
    if (!first_block)
        first_block = block_new(BLOCK_THREADS);
    return simt_trace && first_block;
}

/** Gives the block its shape, and fibers at their start to the threads that have none. */
static void block_shape(struct block *block, const struct launch *launch)
{
    block->threads = launch->block.x * launch->block.y * launch->block.z;
    block->warps = (block->threads + WARP_LANES - 1) / WARP_LANES;
    for (unsigned i = 0; i < block->warps; i++) {
        const unsigned lanes = block->threads - i * WARP_LANES;

        block->warp[i].first = i * WARP_LANES;
        block->warp[i].lanes = lanes >= WARP_LANES ? UINT32_MAX : (1u << lanes) - 1;
    }
    for (unsigned i = 0; i < block->threads; i++) {
        struct lane *lane = &block->lane[i];

        lane->thread = i;
        lane->index = simt_thread_index(i);
        if (i >= block->prepared) {
            unsigned char *stack = fiber_stack(&block->stacks, i);

            lane->stack = (uintptr_t)stack;
            lane->stack_pointer = fiber_prepare(stack, (i % WARP_LANES) * 192, simt_lane_main);
        }
    }
    if (block->prepared < block->threads)
        block->prepared = block->threads;
}

/* --- memory that kernels see ---------------------------------------------------------------------------------------- */

static void open_memory(void)
{
    simt_now.arena = simt_arena_base();
    simt_now.arena_bytes = simt_arena_used();
    simt_now.arena_shadow = simt_arena_shadow();
    simt_now.shared = shared.low;
    simt_now.shared_bytes = shared.bytes;
    simt_now.shared_shadow = first_block->shared_shadow;
    simt_now.shared_end = shared.dynamic + simt_current.dynamic_shared;
    simt_now.shared_resume = shared.dynamic + SHARED_BYTES_LIMIT;
}

static void close_memory(void)
{
    simt_now.arena_bytes = simt_now.arena_quick = 0;
    simt_now.shared_bytes = simt_now.shared_quick = 0;
    simt_now.lane = NULL;
}

/** Shared memory holds nothing that a block could rely on. */
static void poison_shared(void)
{
    unsigned char *bytes = (unsigned char *)shared.low;

    memset(bytes, 0xff, simt_now.shared_end);
    memset(bytes + simt_now.shared_resume, 0xff, shared.bytes - simt_now.shared_resume);
}

/** Copies what this launch can use of shared memory, between its place and a block's copy. */
static void copy_shared(unsigned char *to, const unsigned char *from)
{
    memcpy(to, from, simt_now.shared_end);
    memcpy(to + simt_now.shared_resume, from + simt_now.shared_resume, shared.bytes - simt_now.shared_resume);
}

/** Ticks are 32 bits: long before they run out, all that is remembered is forgotten between two launches. */
static void start_ticks(void)
{
    if (simt_now.tick > UINT32_MAX / 4 * 3) {
        simt_arena_forget_ticks();
        memset(first_block->shared_shadow, 0, shared.shadow_bytes);
        simt_variables_mark(first_block->shared_shadow, shared.dynamic);
        memset(simt_image.data_shadow, 0,
               (simt_image.data_high - simt_image.data_low) / 4 * sizeof *simt_image.data_shadow);
        simt_now.tick = 0;
    }
    simt_tick();
    simt_segments_clear();
    simt_now.launch_tick = simt_now.tick;
    simt_now.fence_end = 0;
}

/* --- one after another -------------------------------------------------------------------------------------------- */

static void run_in_turn(uint64_t blocks)
{
    for (uint64_t i = 0; i < blocks && !simt_now.faulted; i++) {
        first_block->number = (uint32_t)i;
        simt_block_idx = simt_block_index((uint32_t)i);
        poison_shared();
        simt_block_begin(first_block);
        simt_log_block((uint32_t)i);
        simt_block_go_on(first_block);
        simt_counters.blocks++;
    }
}

/* --- together ----------------------------------------------------------------------------------------------------- */

static void block_enter(struct block *block)
{
    simt_block_idx = simt_block_index(block->number);
    copy_shared((unsigned char *)shared.low, block->shared_copy);
    simt_now.shared_shadow = block->shared_shadow;
    simt_segment_begin(block->number);
    simt_log_block(block->number);
    simt_now.block = block;
    simt_now.block_tick = block->block_tick;
    simt_now.barrier_end = block->barrier_end;
    simt_now.acquire_end = block->acquire_end;
    simt_now.ordered_ticks = 0;
}

static void block_leave(struct block *block)
{
    /* A read of unwritten shared memory cannot become a race any more: nobody else can write there. */
    simt_uninitialised_fault();
    copy_shared(block->shared_copy, (const unsigned char *)shared.low);
    block->block_tick = simt_now.block_tick;
    block->barrier_end = simt_now.barrier_end;
    block->acquire_end = simt_now.acquire_end;
}

/** A block's first turn begins on fresh shared memory. */
static void block_first_turn(struct block *block)
{
    simt_block_idx = simt_block_index(block->number);
    poison_shared();
    simt_now.shared_shadow = block->shared_shadow;
    simt_block_begin(block);
    simt_log_block(block->number);
}

static void fault_grid_barrier(const struct block *waiting, const struct block *gone)
{
    const uint3 index = simt_block_index(gone->number);
    const struct lane *lane = &waiting->lane[0];

    simt_block_idx = simt_block_index(waiting->number);
    simt_fault_lane(cudaErrorLaunchFailure, lane, lane->site, "grid barrier that some blocks miss",
                    "waits for the grid, but block (%u,%u,%u) has returned", index.x, index.y, index.z);
}

/** All blocks wait or have returned: lets them go on if all wait. */
static void grid_barrier(struct block *const *blocks, const enum block_state *states, unsigned count)
{
    const struct block *gone = NULL;
    const struct block *waiting = NULL;

    for (unsigned i = 0; i < count; i++) {
        if (states[i] == BLOCK_DONE)
            gone = gone ? gone : blocks[i];
        else
            waiting = waiting ? waiting : blocks[i];
    }
    if (!waiting)
        return;
    if (gone) {
        fault_grid_barrier(waiting, gone);
        return;
    }
    simt_order_grid();
    for (unsigned i = 0; i < count; i++) {
        blocks[i]->barrier_end = simt_now.tick;
        simt_block_release(blocks[i]);
    }
}

static void run_together(struct block *const *blocks, unsigned count)
{
    enum block_state states[LIVE_BLOCKS];
    bool started = false;
    unsigned done = 0;

    for (unsigned i = 0; i < count; i++)
        states[i] = BLOCK_RUNS;
    while (done < count && !simt_now.faulted) {
        bool ran = false;

        for (unsigned i = 0; i < count && !simt_now.faulted; i++) {
            if (states[i] == BLOCK_DONE || (states[i] == BLOCK_AT_GRID_BARRIER && blocks[i]->at_grid_barrier))
                continue;
            if (started)
                block_enter(blocks[i]);
            else
                block_first_turn(blocks[i]);
            states[i] = simt_block_go_on(blocks[i]);
            done += states[i] == BLOCK_DONE;
            block_leave(blocks[i]);
            ran = true;
        }
        started = true;
        if (!ran)
            grid_barrier(blocks, states, count);
    }
    simt_counters.blocks += count;
}

unsigned simt_blocks_per_processor(unsigned threads, size_t dynamic_shared)
{
    const unsigned whole_warps = (threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    const unsigned by_threads = PROCESSOR_THREADS / whole_warps;
    const unsigned by_shared = (unsigned)(PROCESSOR_SHARED_BYTES / (dynamic_shared + SHARED_BYTES_RESERVED));
    const unsigned blocks = by_threads < by_shared ? by_threads : by_shared;

    return blocks < PROCESSOR_BLOCKS ? blocks : PROCESSOR_BLOCKS;
}

static cudaError_t run_cooperative(const struct launch *launch, unsigned count)
{
    struct block *blocks[LIVE_BLOCKS] = {first_block};
    cudaError_t error = cudaSuccess;

    for (unsigned i = 1; i < count && error == cudaSuccess; i++) {
        blocks[i] = block_new(launch->block.x * launch->block.y * launch->block.z);
        if (!blocks[i])
            error = cudaErrorMemoryAllocation;
    }
    for (unsigned i = 0; i < count && error == cudaSuccess; i++) {
        blocks[i]->number = i;
        block_shape(blocks[i], launch);
    }
    if (error == cudaSuccess)
        run_together(blocks, count);
    for (unsigned i = 1; i < count; i++)
        block_free(blocks[i]);
    return error;
}

cudaError_t simt_grid_run(const struct launch *launch)
{
    const uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    cudaError_t error = cudaSuccess;

    simt_block_dim = (uint3){launch->block.x, launch->block.y, launch->block.z};
    simt_grid_dim = (uint3){launch->grid.x, launch->grid.y, launch->grid.z};
    open_memory();
    start_ticks();
    if (launch->cooperative) {
        error = run_cooperative(launch, (unsigned)blocks);
    } else {
        block_shape(first_block, launch);
        run_in_turn(blocks);
    }
    close_memory();
    if (simt_now.faulted) {
        first_block->prepared = 0;
        simt_variables_mark(first_block->shared_shadow, shared.dynamic); /* reads may have wiped marks out */
    }
    return error;
}
