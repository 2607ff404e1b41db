/**
 * @file warp_replay.c
 * @brief Replay: merges the events of individual lanes into the basic blocks and memory requests of a warp, and finds
 *        divergent branches.
 *
 * Among the lanes' next events, the replay chooses the one with the deepest call and, at equal depth, the earliest
 * position in the source, and issues it for all lanes that are at this event. Because the code after a branch follows
 * both of its sides in the source, diverged lanes reconverge there, as on the hardware, and no control-flow graph is
 * needed.
 */
#include "blocks.h"
#include "calls/active_lanes.h"
#include "calls/kernel_calls.h"
#include "lanes/observer.h"
#include "machine/fault.h"

#include <string.h>

#define SUCCESSOR_EXIT UINT64_MAX

uintptr_t simt_last_replayed_pc;

/**
 * Notifies observers that lanes of a basic block continued at a second successor, unless a divergence of this block has
 * already been reported.
 */
static void branch_diverges(struct branch_awaiting_successors *branch, uint64_t successor, uintptr_t pc)
{
    if (branch->successor_key == successor || branch->has_diverged)
        return;
    branch->has_diverged = 1;
    NOTIFY_OBSERVERS(warp_diverged, successor < branch->successor_key ? pc : branch->successor_pc);
}

/**
 * Records that the lanes in `group` continue at the basic block `successor`, which is at `pc`, and closes each basic
 * block that all its lanes have left.
 */
static void steps_leave(struct warp *warp, lane_mask group, uint64_t successor, uintptr_t pc)
{
    for (int i = 0; i < warp->num_branches_awaiting_successors;) {
        struct branch_awaiting_successors *branch = &warp->branches_awaiting_successors[i];

        if (branch->unresolved_lanes & group) {
            if (branch->successor_key == 0) {
                branch->successor_key = successor;
                branch->successor_pc = pc;
            } else {
                branch_diverges(branch, successor, pc);
            }
            branch->unresolved_lanes &= ~group;
            if (branch->unresolved_lanes == 0) {
                *branch = warp->branches_awaiting_successors[--warp->num_branches_awaiting_successors];
                continue;
            }
        }
        i++;
    }
}

static void issue_block(struct warp *warp, lane_mask group, uint64_t key, uintptr_t pc)
{
    NOTIFY_OBSERVERS(basic_block_issued, group);
    if (warp->num_branches_awaiting_successors == 1 &&
        warp->branches_awaiting_successors[0].unresolved_lanes == group) {
        struct branch_awaiting_successors *branch = &warp->branches_awaiting_successors[0];

        /*
         * All lanes of the group continue at one block; the branch diverged only if other lanes continued at a
         * different one.
         */
        if (branch->successor_key != 0)
            branch_diverges(branch, key, pc);
        *branch = (struct branch_awaiting_successors){.unresolved_lanes = group};
        return;
    }
    steps_leave(warp, group, key, pc);
    warp->branches_awaiting_successors[warp->num_branches_awaiting_successors++] = (struct branch_awaiting_successors){
        .unresolved_lanes = group};
}

/**
 * Issues a memory instruction of the lanes in `group`, each lane at its event `at`. An instruction whose generic
 * pointers point into different address spaces is split into several requests.
 */
static void issue_memory(const struct lane *lanes, lane_mask group, size_t at)
{
    struct memory_request request;

    while (group) {
        const struct lane_event *first = &lanes[lowest_lane(group)].first_unreplayed_event[at];
        const uint64_t what = first->packed_access >> EVENT_BYTES_SHIFT;
        unsigned count = 0;

        request.kind = (enum event_kind)(what >> (EVENT_KIND_SHIFT - EVENT_BYTES_SHIFT));
        if (request.kind == EVENT_MBARRIER) {
            request.bytes_per_lane = 0;
            request.mbarrier_operation = (enum mbarrier_operation)(what & 0xff);
        } else {
            request.bytes_per_lane = what & 0xff;
        }
        request.pc = first->pc;
        request.lanes = group;
        FOR_EACH_LANE (i, group) {
            const uint64_t access = lanes[i].first_unreplayed_event[at].packed_access;

            if (access >> EVENT_BYTES_SHIFT != what) {
                request.lanes &= ~lane_bit(i);
                continue;
            }
            request.packed_offsets[count] = access & EVENT_OFFSET_MASK;
            request.lane_numbers[count++] = (uint8_t)i;
        }
        request.num_lanes = count;
        NOTIFY_OBSERVERS(request_issued, &request);
        group &= ~request.lanes;
    }
}

/**
 * Returns the number of next events, at least 1, that all lanes in `group` have in common and whose keys are below
 * `below`.
 */
static size_t common_run(const struct lane *lanes, lane_mask group, uint64_t below)
{
    const struct lane *leader = &lanes[lowest_lane(group)];
    const struct lane_event *lead = leader->first_unreplayed_event;
    size_t run = (size_t)(leader->next_event - lead);

    for (size_t i = 1; i < run; i++) {
        if (lead[i].position_key >= below) {
            run = i;
            break;
        }
    }
    FOR_EACH_LANE (other, group & (group - 1)) {
        const struct lane *lane = &lanes[other];
        const struct lane_event *mine = lane->first_unreplayed_event;
        const size_t have = (size_t)(lane->next_event - mine);
        size_t i = 0;

        if (have < run)
            run = have;
        while (i < run && mine[i].position_key == lead[i].position_key)
            i++;
        run = i;
    }
    return run;
}

static void issue_run(struct warp *warp, struct lane *lanes, lane_mask group, size_t run)
{
    const struct lane_event *lead = lanes[lowest_lane(group)].first_unreplayed_event;

    for (size_t i = 0; i < run; i++) {
        if (lead[i].packed_access >> EVENT_KIND_SHIFT == EVENT_BASIC_BLOCK)
            issue_block(warp, group, lead[i].position_key, lead[i].pc);
        else
            issue_memory(lanes, group, i);
    }
    FOR_EACH_LANE (i, group)
        lanes[i].first_unreplayed_event += run;
    simt_last_replayed_pc = lead[run - 1].pc;
    simt_launch_progress.num_replayed_events += run * lane_count(group);
}

/**
 * Returns the entry of an access in the warp's list of passed accesses, or the end of the list if the access is not in
 * it.
 */
static struct access_bypassing_collective *find_passed(struct warp *warp, uint64_t key)
{
    struct access_bypassing_collective *passed = warp->accesses_bypassing_collectives;

    while (passed < warp->accesses_bypassing_collectives + warp->num_accesses_bypassing_collectives &&
           passed->position_key != key)
        passed++;
    return passed;
}

/**
 * Records the accesses of lanes that other lanes wait for at a collective, because the awaited lanes may return without
 * arriving there.
 */
static void record_passing(struct warp *warp, const struct lane *lanes, lane_mask group, size_t run)
{
    const struct lane_event *lead = lanes[lowest_lane(group)].first_unreplayed_event;

    for (size_t i = 0; i < run && warp->num_accesses_bypassing_collectives < MAX_ACCESSES_BYPASSING_COLLECTIVES; i++) {
        struct access_bypassing_collective *passed = find_passed(warp, lead[i].position_key);

        if (lead[i].packed_access >> EVENT_KIND_SHIFT == EVENT_BASIC_BLOCK)
            continue;
        if (passed == warp->accesses_bypassing_collectives + warp->num_accesses_bypassing_collectives)
            warp->accesses_bypassing_collectives[warp->num_accesses_bypassing_collectives++] =
                (struct access_bypassing_collective){.position_key = lead[i].position_key};
        passed->bypassing_lanes |= group;
    }
}

/**
 * Reports a collective that some lanes completed without other lanes in its mask, if both groups of lanes now execute
 * the same access.
 */
static void check_missed(struct warp *warp, const struct lane *lanes, lane_mask group, size_t run)
{
    const struct lane_event *lead = lanes[lowest_lane(group)].first_unreplayed_event;

    for (size_t i = 0; i < run && !simt_faulted; i++) {
        const struct access_bypassing_collective *passed = find_passed(warp, lead[i].position_key);

        if (passed == warp->accesses_bypassing_collectives + warp->num_accesses_bypassing_collectives ||
            !(passed->lanes_that_had_waited & group))
            continue;
        const struct lane *here = &lanes[lowest_lane(passed->lanes_that_had_waited & group)];
        const struct lane *gone = &lanes[lowest_lane(passed->bypassing_lanes)];

        const unsigned gone_lane = gone->thread % WARP_LANES;
        const lane_mask mask = warp->collective_mask[here->thread % WARP_LANES];
        const lane_mask other = warp->collective_mask[gone_lane];

        if (other && mask != other &&
            strcmp(simt_awaited_collective_name(warp, gone_lane), passed->collective_name) == 0) {
            simt_fault_thread(
                cudaErrorLaunchFailure, here->thread_index, passed->collective_site, "collective that some lanes miss",
                "made this call of %s without lane %u, thread (%u,%u,%u), which is in its mask " LANE_MASK_FORMAT
                " but whose last call had the mask " LANE_MASK_FORMAT SIMT_ADVICE_PREFIX
                "the same mask in all lanes that make the call together",
                passed->collective_name, gone_lane, gone->thread_index.x, gone->thread_index.y, gone->thread_index.z,
                LANE_MASK_ARGUMENTS(mask), LANE_MASK_ARGUMENTS(other));
            return;
        }
        simt_fault_thread(cudaErrorLaunchFailure, here->thread_index, passed->collective_site,
                          "collective that some lanes miss",
                          "made this call of %s without lane %u, thread (%u,%u,%u), which is in its mask but went past "
                          "it: both go on" SIMT_PC_LOCATION_FORMAT,
                          passed->collective_name, gone_lane, gone->thread_index.x, gone->thread_index.y,
                          gone->thread_index.z, lead[i].pc);
    }
}

/** Returns the lanes that at least one waiting lane waits for. */
static lane_mask awaited_lanes(const struct warp *warp)
{
    lane_mask awaited = 0;

    if ((warp->lanes & ~warp->lanes_at_collective) == 0)
        return 0;
    FOR_EACH_LANE (lane, warp->lanes_at_collective)
        awaited |= warp->collective_mask[lane];
    return awaited & ~warp->lanes_at_collective;
}

/**
 * Returns the lanes that still have events. Stores in `group` the lanes whose next events have the smallest key, and in
 * `below` the smallest key of the others. `limits` comes from simt_find_event_replay_limits().
 */
static lane_mask choose(const struct lane *lanes, lane_mask candidates, const struct source_position *limits,
                        lane_mask *group, uint64_t *below)
{
    uint64_t best = UINT64_MAX;
    lane_mask present = 0;

    *group = 0;
    *below = UINT64_MAX;
    FOR_EACH_LANE (i, candidates) {
        if (lanes[i].first_unreplayed_event == lanes[i].next_event)
            continue;
        const uint64_t key = lanes[i].first_unreplayed_event->position_key;

        present |= lane_bit(i);
        if (WARP_LANES == 64 && key >= simt_replay_limit_as_key_at_depth_of(limits[i], key))
            continue;
        if (key < best) {
            *below = best;
            best = key;
            *group = lane_bit(i);
        } else if (key == best) {
            *group |= lane_bit(i);
        } else if (key < *below) {
            *below = key;
        }
    }
    FOR_EACH_LANE (i, WARP_LANES == 64 ? *group : 0) {
        const uint64_t limit = simt_replay_limit_as_key_at_depth_of(limits[i], best);

        *below = limit < *below ? limit : *below;
    }
    return present;
}

/** Moves the lanes' remaining events to the front of their buffers. */
static void compact(struct lane *lanes, lane_mask mask)
{
    FOR_EACH_LANE (i, mask) {
        struct lane *lane = &lanes[i];
        struct lane_event *start = lane->event_buffer_end - LANE_EVENT_CAPACITY;
        const size_t rest = (size_t)(lane->next_event - lane->first_unreplayed_event);

        if (rest > 0 && lane->first_unreplayed_event != start)
            memmove(start, lane->first_unreplayed_event, rest * sizeof *start);
        lane->first_unreplayed_event = start;
        lane->next_event = start + rest;
    }
}

/**
 * Issues the events of the ready lanes whose buffers have no room before those of the other lanes, which are polling,
 * perhaps for a value that a ready lane will write. Diverged lanes of a warp take turns on a GPU as well.
 */
static void issue_starved(struct warp *warp, struct lane *lanes, const struct source_position *limits)
{
    lane_mask starved = 0;
    lane_mask group;
    uint64_t below;

    FOR_EACH_LANE (i, warp->ready_lanes) {
        if (!lane_has_event_room(&lanes[i]))
            starved |= lane_bit(i);
    }
    while (choose(lanes, starved, limits, &group, &below) && group)
        issue_run(warp, lanes, group, common_run(lanes, group, below));
}

void simt_replay_events_as_warp_instructions(struct warp *warp)
{
    enum { POLLS_WHILE_STARVED = 4096 };
    struct lane *lanes = simt_running.warp_lanes;
    const lane_mask awaited = awaited_lanes(warp);
    lane_mask candidates = warp->lanes;
    lane_mask group;
    uint64_t below;
    struct source_position limits[WARP_LANES];

    if (WARP_LANES == 64)
        simt_find_event_replay_limits(warp, limits);
    if (SIMT_UNLIKELY(simt_launch_progress.num_polls_since_progress >= POLLS_WHILE_STARVED))
        issue_starved(warp, lanes, limits);

    for (;;) {
        candidates = choose(lanes, candidates, limits, &group, &below);

        const lane_mask finished = warp->finished_lanes & ~candidates & ~warp->fully_replayed_lanes;

        if (finished) {
            steps_leave(warp, finished, SUCCESSOR_EXIT, 0);
            warp->fully_replayed_lanes |= finished;
            NOTIFY_OBSERVERS(lanes_returned, finished);
        }
        if (group == 0 || (warp->ready_lanes & ~candidates))
            break;
        const size_t run = common_run(lanes, group, below);

        if (SIMT_UNLIKELY(group & awaited) && !(candidates & warp->lanes_at_collective))
            record_passing(warp, lanes, group & awaited, run);
        if (SIMT_UNLIKELY(group & warp->lanes_past_bypassed_collective))
            check_missed(warp, lanes, group, run);
        issue_run(warp, lanes, group, run);
    }
    compact(lanes, warp->lanes);
}
