/**
 * @file lanes.c
 * @brief Runs the lanes of a warp one after another: switches from each lane to the next, and at the end to the
 *        scheduler.
 */
#include "lanes.h"

#include "machine/fault.h"
#include "machine/source_lines.h"
#include "machine/turns.h"
#include "memory/shadow.h"
#include "observer.h"

#include <string.h>

const struct observer *simt_observers[3];

struct running_state simt_running;
struct launch simt_current_launch;
struct launch_progress simt_launch_progress;

void simt_store_lane_callers(uintptr_t callers[NUM_FAULT_CALLERS])
{
    const uint64_t kernel = (KEY_CALLS_LEFT_OUTSIDE_KERNEL - KEY_CALLS_LEFT_UNIT) >> KEY_CALLS_LEFT_SHIFT;
    const struct lane *lane = simt_running.lane;
    unsigned count = 0;

    if (!lane)
        return;
    for (uint64_t call = lane->calls_left >> KEY_CALLS_LEFT_SHIFT; call < kernel && count < NUM_FAULT_CALLERS; call++)
        callers[count++] = simt_running.block->call_sites[lane->thread][call % MAX_CALL_SITES];
}

uintptr_t simt_find_unreplayed_access_address(uintptr_t pc, bool (*matches)(uintptr_t address, uintptr_t reference),
                                              uintptr_t reference)
{
    if (!simt_running.lane)
        return 0;
    FOR_EACH_LANE (i, simt_running.warp->lanes) {
        const struct lane *const lane = simt_running.warp_lanes + i;

        for (const struct lane_event *event = lane->event_buffer_end - LANE_EVENT_CAPACITY; event < lane->next_event;
             event++) {
            const enum event_kind kind = (enum event_kind)(event->packed_access >> EVENT_KIND_SHIFT);
            const uint64_t offset = event->packed_access & EVENT_OFFSET_MASK;
            const uintptr_t address = offset & EVENT_OFFSET_IN_PROGRAM_DATA
                                          ? simt_program.device_variables_low + (offset & ~EVENT_OFFSET_IN_PROGRAM_DATA)
                                          : simt_memory.arena_begin + offset;

            if (event->pc == pc &&
                (kind == EVENT_GLOBAL_LOAD || kind == EVENT_GLOBAL_STORE || kind == EVENT_GLOBAL_ATOMIC) &&
                matches(address, reference))
                return address;
        }
    }
    return 0;
}

void simt_set_running_warp(struct block *block, struct warp *warp)
{
    simt_running.warp = warp;
    simt_running.warp_lanes = &block->lane[warp->first_thread];
    simt_current_order.order_within_warp = &warp->ordering;
}

/** Removes and returns the next runnable lane, of which there must be at least one. */
static inline __attribute__((always_inline)) struct lane *take_runnable(void)
{
    const unsigned lane = SIMT_UNLIKELY(simt_lanes_run_descending) ? highest_lane(simt_running.runnable_lanes)
                                                                   : lowest_lane(simt_running.runnable_lanes);

    simt_running.runnable_lanes &= ~lane_bit(lane);
    return simt_running.warp_lanes + lane;
}

void simt_lanes_run(lane_mask lanes)
{
    simt_running.runnable_lanes = lanes;
    struct lane *const first = take_runnable();

    set_running_lane(first);
    simt_fiber_switch(&fiber_host_stack_pointer, first->stack_pointer);
    simt_running.lane = NULL;
}

void simt_lane_suspend(void)
{
    struct lane *self = simt_running.lane;

    self->packed_last_load = simt_current_order.packed_last_load;
    if (simt_running.runnable_lanes) {
        struct lane *const next = take_runnable();

        set_running_lane(next);
        simt_fiber_switch(&self->stack_pointer, next->stack_pointer);
    } else {
        simt_fiber_switch(&self->stack_pointer, fiber_host_stack_pointer);
    }
}

void simt_end_faulted_lane(uintptr_t pc)
{
    struct lane *const lane = simt_running.lane;

    if (!lane)
        return;
    const lane_mask self = lane_bit(lane->thread % WARP_LANES);

    lane->wait_site = pc;
    simt_running.warp->ready_lanes &= ~self;
    simt_running.warp->finished_lanes |= self;
    simt_running.warp->faulted_lanes |= self;
    simt_lane_suspend();
    __builtin_unreachable();
}

/** Writes the call stack of a waiting lane: one source location per line, innermost call first. */
static void describe_calls(const struct lane *lane, char text[STACK_TEXT_SIZE])
{
    const uint64_t kernel = (KEY_CALLS_LEFT_OUTSIDE_KERNEL - KEY_CALLS_LEFT_UNIT) >> KEY_CALLS_LEFT_SHIFT;
    const uint64_t first = lane->calls_left >> KEY_CALLS_LEFT_SHIFT;
    char more[STACK_TEXT_SIZE];

    simt_format_inlined_call_lines(lane->wait_site, text);
    for (uint64_t call = first; call < kernel && call < first + MAX_CALL_SITES; call++) {
        const size_t length = strlen(text);

        simt_format_inlined_call_lines(simt_running.block->call_sites[lane->thread][call % MAX_CALL_SITES], more);
        snprintf(text + length, STACK_TEXT_SIZE - length, "%s", more);
    }
}

/** Advances both texts past their common leading lines. */
static void skip_common_lines(const char **a, const char **b)
{
    size_t length = strcspn(*a, "\n") + 1;

    while (**a && strncmp(*a, *b, length) == 0) {
        *a += length;
        *b += length;
        length = strcspn(*a, "\n") + 1;
    }
}

bool simt_check_lanes_reached_same_call_lines(const struct lane *lane, const struct lane *other, const char *fault_kind,
                                              const char *call, const char *other_call)
{
    char mine[STACK_TEXT_SIZE];
    char theirs[STACK_TEXT_SIZE];
    const char *here = mine;
    const char *there = theirs;

    if (lanes_reached_same_call_addresses(lane, other))
        return true;
    describe_calls(lane, mine);
    describe_calls(other, theirs);
    if (strcmp(mine, theirs) == 0 && lane->barrier_id == other->barrier_id)
        return true;
    if (simt_call_is_after_in_source(lane->wait_site,
                                     other->wait_site)) /* some lanes may have skipped the earlier call */
        return simt_check_lanes_reached_same_call_lines(other, lane, fault_kind, other_call, call);
    simt_fault_dismiss_if_after_call_in_source(lane->wait_site);
    simt_fault_dismiss_if_after_call_in_source(other->wait_site);
    skip_common_lines(&here, &there);
    if (!*here && !*there && strcmp(call, other_call) != 0)
        simt_fault_thread(cudaErrorLaunchFailure, lane->thread_index, lane->wait_site, fault_kind,
                          "is at the %s of this line while thread (%u,%u,%u) is at its %s: all must reach the same one",
                          call, other->thread_index.x, other->thread_index.y, other->thread_index.z, other_call);
    else if (!*here && !*there)
        simt_fault_thread(
            cudaErrorLaunchFailure, lane->thread_index, lane->wait_site, fault_kind,
            "is at one %s of this line while thread (%u,%u,%u) is at another: all must reach the same one", call,
            other->thread_index.x, other->thread_index.y, other->thread_index.z);
    else if (here == mine)
        simt_fault_thread(cudaErrorLaunchFailure, lane->thread_index, lane->wait_site, fault_kind,
                          "is at this %s while thread (%u,%u,%u) is at the %s" SIMT_PC_LOCATION_FORMAT
                          ": all must reach the same one",
                          call, other->thread_index.x, other->thread_index.y, other->thread_index.z,
                          strcmp(call, other_call) == 0 ? "one" : other_call, other->wait_site);
    else
        simt_fault_thread(cudaErrorLaunchFailure, lane->thread_index, lane->wait_site, fault_kind,
                          "is at this %s by the call at %.*s while thread (%u,%u,%u) is by the one at %.*s", call,
                          (int)strcspn(here, " \n"), here, other->thread_index.x, other->thread_index.y,
                          other->thread_index.z, (int)strcspn(there, " \n"), there);
    return false;
}

void simt_lane_main(void)
{
    for (;;) {
        simt_current_launch.call(simt_current_launch.arguments);

        if (SIMT_UNLIKELY(simt_num_deferred_races))
            simt_deferred_race_report();
        struct lane *const lane = simt_running.lane;
        const lane_mask self = lane_bit(lane->thread % WARP_LANES);
        struct warp *warp = simt_running.warp;

        if (lane->next_event > lane->event_buffer_end - LANE_EVENT_CAPACITY)
            lane->wait_site = lane->next_event[-1].pc;
        warp->ready_lanes &= ~self;
        warp->finished_lanes |= self;
        simt_lane_suspend();
    }
}
