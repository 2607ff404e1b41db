/**
 * @file grid.c
 * @brief Runs the blocks of a launch on the same shared memory: one after another, or concurrently if the launch is
 *        cooperative.
 *
 * The blocks of a cooperative launch take turns. At the end of its turn a block saves the contents of its shared
 * memory, and at its next turn it restores them, so that the thread-local storage of one OS thread suffices for all
 * blocks.
 */
#include "blocks.h"
#include "calls/kernel_calls.h"
#include "calls/warpgroup_products.h"
#include "lanes/observer.h"
#include "machine/fault.h"
#include "machine/pages.h"
#include "machine/turns.h"
#include "memory/constant_reads.h"
#include "memory/device_memory.h"
#include "memory/history.h"
#include "memory/shadow.h"
#include "order/stream_work.h"

#include <sanitizer/asan_interface.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LIVE_BLOCKS = NUM_MULTIPROCESSORS * MULTIPROCESSOR_THREADS / WARP_LANES, KEPT_THREADS = 32 * BLOCK_THREADS };

static struct shared {
    uintptr_t low;
    size_t bytes;
    size_t dynamic; /**< offset of the dynamic array */
    size_t shadow_bytes;
} shared;

/**
 * The blocks allocated so far. Launches that are not cooperative use only the first. After a cooperative launch, the
 * others are kept for the next one, as long as all blocks together have at most KEPT_THREADS fibers.
 */
static struct block *live[LIVE_BLOCKS];

/* --- storage ------------------------------------------------------------------------------------------------------ */

static void block_free(struct block *block)
{
    if (!block)
        return;
    fiber_stacks_unmap(&block->stacks);
    pages_unmap(block->shared_shadow, shared.shadow_bytes);
    pages_unmap(block->saved_shared_memory, shared.bytes);
    pages_unmap(block->parked_events, (size_t)BLOCK_THREADS * LANE_EVENT_CAPACITY * sizeof *block->parked_events);
    pages_unmap(block, block->mapped_bytes);
}

/**
 * Allocates a block with `threads` fibers; returns NULL if out of memory. The first block shares a mapping with the
 * event buffers, because most launches need no other block, each of a program's many processes may launch a kernel, and
 * a single mapping is fast to create.
 */
static struct block *block_new(unsigned threads, bool first)
{
    const size_t events = WARP_LANES * LANE_EVENT_CAPACITY * sizeof *simt_lane_events;
    const size_t bytes = first
                             ? (sizeof(struct block) + events + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES
                             : sizeof(struct block);
    struct block *block = first ? pages_map_huge(bytes) : pages_map(bytes);

    if (!block)
        return NULL;
    block->mapped_bytes = bytes;
    if (first)
        simt_lane_events = (struct lane_event *)(block + 1);
    block->shared_shadow = pages_map(shared.shadow_bytes);
    block->saved_shared_memory = pages_map(shared.bytes);
    block->parked_events = pages_map((size_t)BLOCK_THREADS * LANE_EVENT_CAPACITY * sizeof *block->parked_events);
    if (!block->shared_shadow || !block->saved_shared_memory || !block->parked_events ||
        !fiber_stacks_map(&block->stacks, threads)) {
        block_free(block);
        return NULL;
    }
    simt_shared_variables_mark_gaps(block->shared_shadow, shared.dynamic);
    return block;
}

/**
 * Ensures that the first `count` live blocks exist, each with at least `threads` fibers. Returns false if memory runs
 * out.
 */
static bool blocks_make(unsigned count, unsigned threads)
{
    for (unsigned i = 0; i < count; i++) {
        if (live[i] && live[i]->stacks.num_stacks < threads) {
            block_free(live[i]);
            live[i] = NULL;
        }
        if (!live[i])
            live[i] = block_new(threads, i == 0);
        if (!live[i])
            return false;
    }
    return true;
}

/** Frees live blocks, so that the remaining ones have at most KEPT_THREADS fibers in total. */
static void blocks_thin_out(void)
{
    size_t threads = 0;

    for (unsigned i = 0; i < LIVE_BLOCKS; i++) {
        threads += live[i] ? live[i]->stacks.num_stacks : 0;
        if (threads > KEPT_THREADS) {
            block_free(live[i]);
            live[i] = NULL;
        }
    }
}

/**
 * Resets the blocks after a fault, which leaves fibers in the middle of a kernel and may leave shadow cells whose marks
 * were erased by reads.
 */
static void blocks_mend(void)
{
    for (unsigned i = 0; i < LIVE_BLOCKS; i++) {
        if (!live[i])
            continue;
        live[i]->num_prepared_fibers = 0;
        simt_shared_variables_mark_gaps(live[i]->shared_shadow, shared.dynamic);
    }
}

/** Clears the shadow of each block's shared memory. */
static void blocks_forget(void)
{
    for (unsigned i = 0; i < LIVE_BLOCKS; i++) {
        if (!live[i])
            continue;
        memset(live[i]->shared_shadow, 0, shared.shadow_bytes);
        simt_shared_variables_mark_gaps(live[i]->shared_shadow, shared.dynamic);
    }
}

static size_t data_shadow_bytes(void)
{
    return (simt_program.device_variables_high - simt_program.device_variables_low + 16) / 4 *
           sizeof(struct shadow_cell);
}

bool simt_grid_prepare_memory_once(void)
{
    if (!simt_find_shared_memory(&shared.low, &shared.bytes, &shared.dynamic))
        return false;
    simt_shared_variables_find_once(shared.bytes, shared.dynamic);
    shared.shadow_bytes = (shared.bytes + 16) / 4 * sizeof(struct shadow_cell);
    if (!simt_memory.device_variables_shadow)
        simt_memory.device_variables_shadow = pages_map(data_shadow_bytes());
    return simt_memory.device_variables_shadow && simt_constant_reads_prepare();
}

bool simt_grid_allocate_first_block(void)
{
    return blocks_make(1, BLOCK_THREADS);
}

/** Sets the block's shape and prepares a fiber for each thread that has none. */
static void block_shape(struct block *block, const struct launch *launch)
{
    block->num_threads = launch->block.x * launch->block.y * launch->block.z;
    block->num_warps = (block->num_threads + WARP_LANES - 1) / WARP_LANES;
    for (unsigned i = 0; i < block->num_warps; i++) {
        const unsigned lanes = block->num_threads - i * WARP_LANES;

        block->warp[i].first_thread = i * WARP_LANES;
        block->warp[i].lanes = lanes >= WARP_LANES ? ALL_LANES : lane_bit(lanes) - 1;
    }
    for (unsigned i = 0; i < block->num_threads; i++) {
        struct lane *lane = &block->lane[i];

        lane->thread = i;
        lane->thread_index = simt_thread_index(i);
        if (i >= block->num_prepared_fibers) {
            unsigned char *stack = fiber_stack_lowest_kernel_byte(&block->stacks, i);

            lane->stack_low = (uintptr_t)stack;
            ASAN_UNPOISON_MEMORY_REGION(stack, fiber_stack_bytes); /* an abandoned fiber has left its frames poisoned */
            lane->stack_pointer = fiber_prepare_stack(stack, (i % WARP_LANES) * 192, simt_lane_main);
        }
    }
    if (block->num_prepared_fibers < block->num_threads)
        block->num_prepared_fibers = block->num_threads;
}

/* --- memory of kernels -------------------------------------------------------------------------------------------- */

/** Finds the smallest range that contains shared memory and the stacks of the live blocks. */
static void find_pointer_range(void)
{
    uintptr_t low = shared.low, high = shared.low + shared.bytes;

    for (unsigned i = 0; i < LIVE_BLOCKS; i++) {
        const uintptr_t stacks = live[i] ? (uintptr_t)live[i]->stacks.base : low;
        const uintptr_t end = live[i] ? stacks + live[i]->stacks.mapped_bytes : high;

        low = stacks < low ? stacks : low;
        high = end > high ? end : high;
    }
    simt_memory.shared_and_stacks_low = low;
    simt_memory.shared_and_stacks_bytes = high - low;
}

static bool open_memory(void)
{
    if (!simt_arena_allow_access_and_update_bounds())
        return false;
    simt_memory.shared_begin = shared.low;
    simt_memory.shared_bytes = shared.bytes;
    simt_memory.shared_shadow = live[0]->shared_shadow;
    find_pointer_range();
    simt_memory.dynamic_shared_requested_end = shared.dynamic + simt_current_launch.dynamic_shared_bytes;
    simt_memory.dynamic_shared_array_end = shared.dynamic + SHARED_BYTES_LIMIT;
    simt_observe_each_lane_access(false);
    return true;
}

static void close_memory(void)
{
    simt_arena_forbid_access();
    simt_memory.shared_bytes = 0;
    simt_memory.shared_and_stacks_bytes = 0;
    simt_memory.shared_shadow = live[0]->shared_shadow;
    simt_observe_each_lane_access(false);
    simt_running.lane = NULL;
}

/** Fills shared memory with 0xff, because a block must not rely on its initial contents. */
static void poison_shared(void)
{
    unsigned char *bytes = (unsigned char *)shared.low;

    memset(bytes, 0xff, simt_memory.dynamic_shared_requested_end);
    memset(bytes + simt_memory.dynamic_shared_array_end, 0xff, shared.bytes - simt_memory.dynamic_shared_array_end);
}

/** Copies the part of shared memory that this launch can use to or from a block's saved copy. */
static void copy_shared(unsigned char *to, const unsigned char *from)
{
    memcpy(to, from, simt_memory.dynamic_shared_requested_end);
    memcpy(to + simt_memory.dynamic_shared_array_end, from + simt_memory.dynamic_shared_array_end,
           shared.bytes - simt_memory.dynamic_shared_array_end);
}

/**
 * Starts the epochs of a launch. Epochs are 32-bit numbers. Long before they overflow, this function clears all
 * recorded accesses and restarts at epoch 0. Returns false if out of memory.
 */
static bool start_epochs(uint64_t blocks, const struct launch *launch)
{
    if (simt_current_order.epoch > UINT32_MAX / 4 * 3) {
        simt_record_host_wait_for_all_work();
        simt_arena_clear_recorded_accesses();
        blocks_forget();
        memset(simt_memory.device_variables_shadow, 0, data_shadow_bytes());
        simt_constant_reads_clear();
        simt_current_order.epoch = 0;
    }
    const struct overlapping_launches *launches = simt_work_begin_launch(launch->may_overlap_previous);

    if (!launches)
        return false;
    if (launches->num_launches == 1)
        simt_histories_free();
    simt_deferred_races_clear();
    return simt_order_begin_launch(blocks, launch->is_cooperative, launches);
}

/** Drops the asynchronous copies, mbarriers and warpgroup products of a block that has ended. */
static void forget(struct block *block)
{
    simt_block_discard_async_copies(block);
    simt_mbarriers_free(block);
    simt_products_free(block);
}

/* --- one after another -------------------------------------------------------------------------------------------- */

/** Shows the progress of a long launch on a terminal: a single line, updated every second and erased at the end. */
static void show_progress(uint64_t done, uint64_t blocks)
{
    static time_t shown;
    static bool anything;
    const time_t now = time(NULL);
    char first[NUMBER_TEXT_SIZE], second[NUMBER_TEXT_SIZE];

    if (done == 0)
        shown = now + 1;
    if (now > shown && isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r%s: block %s of %s\033[K", simt_current_launch.name,
                simt_format_thousands_separated(done, first), simt_format_thousands_separated(blocks, second));
        anything = true;
        shown = now;
    }
    if (done == blocks && anything) {
        fprintf(stderr, "\r\033[K");
        anything = false;
    }
}

static void run_in_turn(uint64_t blocks)
{
    const uint64_t round = simt_turns_begin_round_get_hash();

    show_progress(0, blocks);
    simt_launch_progress.num_resident_blocks = 1;
    for (uint64_t i = 0; i < blocks && !simt_faulted; i++) {
        const uint32_t number = (uint32_t)simt_turns_block_or_warp_at(round, i, blocks);

        live[0]->number = number;
        simt_block_idx = simt_block_index(number);
        poison_shared();
        simt_block_reset(live[0]);
        NOTIFY_OBSERVERS(block_begins_or_resumes, number);
        simt_block_run_turn(live[0]);
        forget(live[0]);
        simt_order_end_block(&simt_current_order.order_within_block);
        NOTIFY_OBSERVERS(blocks_ended, 1);
        simt_launch_progress.events_at_last_block_end = simt_launch_progress_num_counted_events();
        show_progress(simt_faulted ? blocks : i + 1, blocks);
    }
}

/* --- concurrently ------------------------------------------------------------------------------------------------- */

static void block_enter(struct block *block)
{
    simt_block_idx = simt_block_index(block->number);
    copy_shared((unsigned char *)shared.low, block->saved_shared_memory);
    simt_memory.shared_shadow = block->shared_shadow;
    simt_order_resume_block(block->number, &block->ordering);
    NOTIFY_OBSERVERS(block_begins_or_resumes, block->number);
    simt_running.block = block;
}

static void block_leave(struct block *block)
{
    /*
     * No other thread can write this shared memory any more, so a suspected read of an unwritten word is not part of a
     * race.
     */
    simt_fault_confirm();
    copy_shared(block->saved_shared_memory, (const unsigned char *)shared.low);
    block->ordering = simt_current_order.order_within_block;
}

/** Starts the first turn of a block, with its shared memory newly poisoned. */
static void block_first_turn(struct block *block)
{
    simt_block_idx = simt_block_index(block->number);
    poison_shared();
    simt_memory.shared_shadow = block->shared_shadow;
    simt_block_reset(block);
    NOTIFY_OBSERVERS(block_begins_or_resumes, block->number);
}

static void fault_grid_barrier(const struct block *waiting, const struct block *gone)
{
    const uint3 index = simt_block_index(gone->number);
    const struct lane *lane = &waiting->lane[0];

    simt_block_idx = simt_block_index(waiting->number);
    simt_fault_thread(cudaErrorLaunchFailure, lane->thread_index, lane->wait_site, "grid barrier that some blocks miss",
                      "waits for the grid, but block (%u,%u,%u) has returned", index.x, index.y, index.z);
}

/**
 * Opens the grid barrier if all blocks wait at it. Reports a fault if some blocks wait and all others have returned.
 */
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
    simt_order_record_completed_grid_barrier();
    for (unsigned i = 0; i < count; i++) {
        simt_order_apply_grid_barrier_to_block(&blocks[i]->ordering);
        simt_block_barrier_release_threads(blocks[i]);
    }
}

static void run_together(struct block *const *blocks, unsigned count)
{
    enum block_state states[LIVE_BLOCKS];
    bool started = false;
    unsigned done = 0;

    for (unsigned i = 0; i < count; i++)
        states[i] = BLOCK_RUNNING;
    simt_launch_progress.num_resident_blocks = count;
    while (done < count && !simt_faulted) {
        const uint64_t round = simt_turns_begin_round_get_hash();
        bool ran = false;

        for (unsigned turn = 0; turn < count && !simt_faulted; turn++) {
            const unsigned i = (unsigned)simt_turns_block_or_warp_at(round, turn, count);

            if (states[i] == BLOCK_DONE ||
                (states[i] == BLOCK_AT_GRID_BARRIER && blocks[i]->num_threads_at_grid_barrier))
                continue;
            if (started)
                block_enter(blocks[i]);
            else
                block_first_turn(blocks[i]);
            states[i] = simt_block_run_turn(blocks[i]);
            if (states[i] == BLOCK_DONE) {
                simt_launch_progress.events_at_last_block_end = simt_launch_progress_num_counted_events();
                done++;
            }
            block_leave(blocks[i]);
            ran = true;
        }
        started = true;
        if (!ran)
            grid_barrier(blocks, states, count);
    }
    NOTIFY_OBSERVERS(blocks_ended, count);
}

static cudaError_t run_cooperative(const struct launch *launch, unsigned count)
{
    const bool made = blocks_make(count, launch->block.x * launch->block.y * launch->block.z);

    for (unsigned i = 0; i < count && made; i++) {
        live[i]->number = i;
        block_shape(live[i], launch);
    }
    if (made) {
        run_together(live, count);
        for (unsigned i = 0; i < count; i++) {
            forget(live[i]);
            simt_order_end_block(&live[i]->ordering);
        }
    }
    blocks_thin_out();
    return made ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t simt_grid_run(const struct launch *launch)
{
    const uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    cudaError_t error = cudaSuccess;

    simt_block_dim = (uint3){launch->block.x, launch->block.y, launch->block.z};
    simt_grid_dim = (uint3){launch->grid.x, launch->grid.y, launch->grid.z};
    if (!open_memory() || !start_epochs(blocks, launch)) {
        error = cudaErrorMemoryAllocation;
    } else if (launch->is_cooperative) {
        error = run_cooperative(launch, (unsigned)blocks);
    } else {
        block_shape(live[0], launch);
        run_in_turn(blocks);
    }
    close_memory();
    if (simt_faulted)
        blocks_mend();
    return error;
}
