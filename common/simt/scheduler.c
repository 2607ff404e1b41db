/**
 * @file scheduler.c
 * @brief Runs a block: its warps in turn, the lanes of each one after another, until all have returned.
 */
#include "log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct simt_now simt_now;

/* Kernels see these as constants, which they are to each thread: the compiler may keep them, and reads are not traffic. */
__attribute__((section("simt_index"))) uint3 simt_thread_idx, simt_block_idx, simt_block_dim, simt_grid_dim;

void simt_lane_leave(void)
{
    struct lane *self = simt_now.lane;
    const uint32_t runnable = simt_now.runnable;

    if (runnable) {
        struct lane *next = simt_now.warp_lane + __builtin_ctz(runnable);

        simt_now.runnable = runnable & (runnable - 1);
        lane_enter(next);
        simt_fiber_switch(&self->stack_pointer, next->stack_pointer);
    } else {
        simt_fiber_switch(&self->stack_pointer, simt_now.scheduler);
    }
}

void simt_lane_main(void)
{
    for (;;) {
        simt_current.call(simt_current.arguments);

        const uint32_t self = 1u << simt_now.lane->thread % WARP_LANES;
        struct warp *warp = simt_now.warp;

        warp->ready &= ~self;
        warp->done |= self;
        simt_lane_leave();
    }
}

/** Lets the given lanes run, one after another. */
static void run_lanes(uint32_t lanes)
{
    struct lane *first = simt_now.warp_lane + __builtin_ctz(lanes);

    simt_now.runnable = lanes & (lanes - 1);
    lane_enter(first);
    simt_fiber_switch(&simt_now.scheduler, first->stack_pointer);
    simt_now.lane = NULL;
}

/** Ready lanes that have room: one whose trace is mostly full waits for the rest of its warp. */
static uint32_t lanes_with_room(const struct warp *warp)
{
    const struct lane *lanes = simt_now.warp_lane;
    uint32_t room = 0;

    for (uint32_t left = warp->ready; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);

        if (lanes[i].cursor < lanes[i].limit - TRACE_EVENTS / 2)
            room |= 1u << i;
    }
    return room;
}

/** Gives the warp's lanes the traces, with what they had not replayed when the warp's last turn ended. */
static void trace_begin(struct warp *warp)
{
    struct lane *lanes = simt_now.warp_lane;

    for (uint32_t left = warp->lanes; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);

        lanes[i].head = lanes[i].cursor = simt_trace + (size_t)i * TRACE_EVENTS;
        lanes[i].limit = lanes[i].cursor + TRACE_EVENTS;
    }
    if (!warp->parked)
        return;
    for (uint32_t left = warp->lanes; left; left &= left - 1) {
        struct lane *lane = &lanes[__builtin_ctz(left)];

        memcpy(lane->cursor, simt_now.block->parked + (size_t)lane->thread * TRACE_EVENTS,
               lane->parked * sizeof *lane->cursor);
        lane->cursor += lane->parked;
    }
    warp->parked = false;
}

/** Another warp needs the traces while some lanes of this one wait for others to catch up. */
static void trace_park(struct warp *warp)
{
    for (uint32_t left = warp->lanes; left; left &= left - 1) {
        struct lane *lane = &simt_now.warp_lane[__builtin_ctz(left)];

        lane->parked = (uint32_t)(lane->cursor - lane->head);
        memcpy(simt_now.block->parked + (size_t)lane->thread * TRACE_EVENTS, lane->head,
               lane->parked * sizeof *lane->head);
    }
    warp->parked = true;
}

/** A launch that has done more than this is taken for an endless loop. */
static void check_budget(struct warp *warp)
{
    if (simt_counters.events + simt_counters.arrivals < simt_event_budget)
        return;
    const unsigned i = (unsigned)__builtin_ctz(warp->ready ? warp->ready : warp->lanes);
    const struct lane *lane = &simt_now.warp_lane[i];

    simt_fault_lane(cudaErrorLaunchTimeout, lane, simt_last_pc, "endless loop?",
                    "was here when the launch had used up its %" PRIu64 " events (SIMT_EVENT_LIMIT)", simt_event_limit);
}

/** Runs a warp until none of its lanes can go on, or it has spun for long and others should have a turn. */
static void warp_run(struct block *block, struct warp *warp)
{
    enum { TURN = 64 };

    simt_now.warp = warp;
    simt_now.warp_lane = &block->lane[warp->first];
    trace_begin(warp);
    for (int full = 0; warp->ready && !simt_now.faulted;) {
        run_lanes(lanes_with_room(warp));
        if (simt_now.faulted)
            return;
        if (SIMT_UNLIKELY(simt_logging))
            simt_log_settle(warp);
        simt_replay(warp);
        check_budget(warp);
        if (warp->ready && ++full == TURN) {
            trace_park(warp);
            return;
        }
        if (warp->waiting)
            simt_collectives_complete(warp);
    }
}

void simt_block_begin(struct block *block)
{
    simt_segment_begin(block->number);
    simt_uninitialised_forget();
    simt_now.block = block;
    simt_now.block_tick = simt_now.barrier_end = simt_now.tick;
    simt_now.ordered_ticks = 0;
    simt_now.acquire_end = 0;
    block->at_grid_barrier = 0;
    block->barrier_predicate = 0;
    for (unsigned i = 0; i < block->warps; i++) {
        struct warp *warp = &block->warp[i];

        warp->ready = warp->lanes;
        warp->waiting = warp->at_barrier = warp->done = warp->closed = 0;
        warp->sync_end = warp->partial = 0;
        warp->open_count = 0;
        warp->parked = false;
    }
    for (unsigned i = 0; i < block->threads; i++)
        block->lane[i].depth = EVENT_DEPTH_NONE;
}

static unsigned count_lanes(const struct block *block, size_t member)
{
    unsigned count = 0;

    for (unsigned i = 0; i < block->warps; i++) {
        uint32_t mask;

        memcpy(&mask, (const char *)&block->warp[i] + member, sizeof mask);
        count += (unsigned)__builtin_popcount(mask);
    }
    return count;
}

/** One pass over the warps; whether any lane ran. */
static bool run_ready_warps(struct block *block)
{
    bool ran = false;

    for (unsigned i = 0; i < block->warps && !simt_now.faulted; i++) {
        if (block->warp[i].ready) {
            warp_run(block, &block->warp[i]);
            ran = true;
        }
    }
    return ran;
}

static const struct lane *first_lane(const struct block *block, size_t member)
{
    for (unsigned i = 0; i < block->warps; i++) {
        uint32_t mask;

        memcpy(&mask, (const char *)&block->warp[i] + member, sizeof mask);
        if (mask)
            return &block->lane[block->warp[i].first + (unsigned)__builtin_ctz(mask)];
    }
    return NULL;
}

/** Threads that came to different __syncthreads: refused unless both are copies of one call in the source. */
static void check_barrier_sites(struct block *block, const struct lane *first)
{
    char here[PLACE_TEXT];
    char there[PLACE_TEXT];

    for (unsigned i = 0; i < block->threads; i++) {
        const struct lane *lane = &block->lane[i];

        if (lane->site == first->site)
            continue;
        simt_locate(lane->site, here);
        simt_locate(first->site, there);
        if (strcmp(here, there) == 0)
            continue;
        simt_fault_lane(cudaErrorLaunchFailure, lane, lane->site, "divergent barrier",
                        "is at this __syncthreads while thread (%u,%u,%u) is at the one" SIMT_PLACE, first->index.x,
                        first->index.y, first->index.z, first->site);
        return;
    }
}

/** All threads are at a barrier: checks that it is one, and unless it is the grid's lets them go on. */
static void barrier_complete(struct block *block)
{
    const struct lane *first = &block->lane[0];

    if (simt_uninitialised_fault())
        return;
    for (unsigned i = 1; i < block->threads; i++) {
        if (block->lane[i].site != first->site) {
            check_barrier_sites(block, first);
            break;
        }
    }
    if (simt_now.faulted || block->at_grid_barrier)
        return;
    simt_order_barrier();
    simt_block_release(block);
}

void simt_block_release(struct block *block)
{
    simt_counters.block_barriers++;
    simt_log_barrier(block);
    block->at_grid_barrier = 0;
    block->barrier_count = block->barrier_predicate;
    block->barrier_predicate = 0;
    for (unsigned i = 0; i < block->warps; i++) {
        block->warp[i].ready = block->warp[i].at_barrier;
        block->warp[i].at_barrier = 0;
    }
}

/** No lane can go on: says why, in the order of likelihood. */
static void fault_stuck(struct block *block, unsigned at_barrier, unsigned done)
{
    const struct lane *waits = first_lane(block, offsetof(struct warp, at_barrier));
    const struct lane *gone = first_lane(block, offsetof(struct warp, done));
    const struct lane *warp_wait = first_lane(block, offsetof(struct warp, waiting));

    if (at_barrier && at_barrier + done == block->threads) {
        simt_fault_lane(cudaErrorLaunchFailure, waits, waits->site, "barrier that some threads miss",
                        "and %u more wait at __syncthreads, but thread (%u,%u,%u) and %u more have returned",
                        at_barrier - 1, gone->index.x, gone->index.y, gone->index.z, done - 1);
        return;
    }
    const unsigned lane = warp_wait->thread % WARP_LANES;
    const struct warp *warp = &block->warp[warp_wait->thread / WARP_LANES];
    const uint32_t missing = simt_collective_missing(warp, lane);
    char detail[256];

    simt_collective_describe(block, warp, lane, missing, detail, sizeof detail);
    simt_fault_lane(cudaErrorLaunchFailure, warp_wait, warp_wait->site, "deadlock", "%s", detail);
}

/** Whether some warp's turn ended while it could have gone on. */
static bool has_parked(const struct block *block)
{
    for (unsigned i = 0; i < block->warps; i++) {
        if (block->warp[i].parked)
            return true;
    }
    return false;
}

enum block_state simt_block_go_on(struct block *block)
{
    while (!simt_now.faulted) {
        if (run_ready_warps(block)) {
            if (simt_current.cooperative && has_parked(block))
                return BLOCK_RUNS;
            continue;
        }
        const unsigned done = count_lanes(block, offsetof(struct warp, done));
        const unsigned at_barrier = count_lanes(block, offsetof(struct warp, at_barrier));

        if (done == block->threads) {
            simt_uninitialised_fault();
            break;
        }
        if (at_barrier < block->threads) {
            fault_stuck(block, at_barrier, done);
            break;
        }
        barrier_complete(block);
        if (block->at_grid_barrier)
            return BLOCK_AT_GRID_BARRIER;
    }
    return BLOCK_DONE;
}

static int barrier_wait(int predicate, uintptr_t site)
{
    struct lane *lane = simt_now.lane;
    struct warp *warp = simt_now.warp;
    const uint32_t self = 1u << lane->thread % WARP_LANES;

    lane->site = site;
    warp->ready &= ~self;
    warp->at_barrier |= self;
    simt_now.block->barrier_predicate += predicate != 0;
    simt_counters.arrivals++;
    simt_lane_leave();
    return simt_now.block->barrier_count;
}

void simt_syncthreads(void)
{
    barrier_wait(0, SIMT_CALLER());
}

int simt_syncthreads_count(int predicate)
{
    return barrier_wait(predicate, SIMT_CALLER());
}

int simt_syncthreads_and(int predicate)
{
    return barrier_wait(predicate, SIMT_CALLER()) == (int)simt_now.block->threads;
}

int simt_syncthreads_or(int predicate)
{
    return barrier_wait(predicate, SIMT_CALLER()) != 0;
}

void simt_grid_sync(void)
{
    if (!simt_current.cooperative)
        simt_fault_here(cudaErrorLaunchFailure, SIMT_CALLER(), "grid barrier",
                        "waits for the grid in a launch that is not cooperative");
    simt_now.block->at_grid_barrier++;
    barrier_wait(0, SIMT_CALLER());
}
