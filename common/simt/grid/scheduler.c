/**
 * @file scheduler.c
 * @brief Runs a block: its warps take turns, and the lanes of a warp run one after another, until all have returned.
 */
#include "blocks.h"
#include "calls/kernel_calls.h"
#include "calls/warpgroup_products.h"
#include "lanes/observer.h"
#include "machine/fault.h"
#include "machine/source_lines.h"
#include "machine/turns.h"

#include <string.h>

struct lane_event *simt_lane_events;
uint64_t simt_event_limit;

/**
 * Returns the ready lanes that may run because their event buffers have room. A lane whose buffer is half full waits
 * for the rest of its warp.
 */
static lane_mask lanes_with_room(const struct warp *warp)
{
    const struct lane *lanes = simt_running.warp_lanes;
    lane_mask room = 0;

    FOR_EACH_LANE (i, warp->ready_lanes) {
        if (lane_has_event_room(&lanes[i]))
            room |= lane_bit(i);
    }
    return room;
}

/**
 * Assigns the event buffers to the warp's lanes, and restores the events that were saved when the warp's last turn
 * ended.
 */
static void take_events(struct warp *warp)
{
    struct lane *lanes = simt_running.warp_lanes;

    FOR_EACH_LANE (i, warp->lanes) {
        lanes[i].first_unreplayed_event = lanes[i].next_event = simt_lane_events + (size_t)i * LANE_EVENT_CAPACITY;
        lanes[i].event_buffer_end = lanes[i].next_event + LANE_EVENT_CAPACITY;
        lanes[i].num_polls = 0;
    }
    if (!warp->has_parked_events)
        return;
    FOR_EACH_LANE (i, warp->lanes) {
        struct lane *lane = &lanes[i];

        memcpy(lane->next_event, simt_running.block->parked_events + (size_t)lane->thread * LANE_EVENT_CAPACITY,
               lane->num_parked_events * sizeof *lane->next_event);
        lane->next_event += lane->num_parked_events;
    }
    warp->has_parked_events = false;
}

/**
 * Saves the events that have not been replayed, because another warp needs the buffers. `ran` contains the lanes that
 * have run in this turn.
 */
static void park_events(struct warp *warp, lane_mask ran)
{
    FOR_EACH_LANE (i, warp->lanes) {
        struct lane *lane = &simt_running.warp_lanes[i];

        lane->num_parked_events = (uint32_t)(lane->next_event - lane->first_unreplayed_event);
        memcpy(simt_running.block->parked_events + (size_t)lane->thread * LANE_EVENT_CAPACITY,
               lane->first_unreplayed_event, lane->num_parked_events * sizeof *lane->first_unreplayed_event);
        if (lane->num_polls == 0 && (ran & warp->ready_lanes & lane_bit(i)))
            simt_launch_progress.num_polls_since_progress = 0;
    }
    warp->has_parked_events = true;
}

/**
 * Returns the block's first lane that is in its warp's mask at offset `member` and not at call site `but`, or NULL. If
 * `but` is 0, the lane may be at any call site.
 */
static const struct lane *first_lane(const struct block *block, size_t member, uintptr_t but)
{
    for (unsigned i = 0; i < block->num_warps; i++) {
        lane_mask mask;

        memcpy(&mask, (const char *)&block->warp[i] + member, sizeof mask);
        FOR_EACH_LANE (l, mask) {
            const struct lane *const lane = &block->lane[block->warp[i].first_thread + l];

            if (but == 0 || lane->wait_site != but)
                return lane;
        }
    }
    return NULL;
}

enum { WAITS_TEXT = 1100, MAX_WAIT_LINES = 4 };

/**
 * Finds lanes that wait at mbarriers, beginning with the block's first, one for each source line at which lanes wait.
 * Returns their number. Runs on the host's stack.
 */
static unsigned find_mbarrier_waits(const struct block *block, const struct lane *lanes[MAX_WAIT_LINES])
{
    char lines[MAX_WAIT_LINES][LOCATION_TEXT_SIZE], line[LOCATION_TEXT_SIZE];
    uintptr_t site = 0; /* of the lane before, as a warp's lanes usually wait at the same call */
    unsigned count = 0, same;

    for (unsigned i = 0; i < block->num_threads && count < MAX_WAIT_LINES; i++) {
        const struct lane *const lane = &block->lane[i];

        if (!(block->warp[i / WARP_LANES].lanes_at_mbarrier & lane_bit(i % WARP_LANES)) || lane->wait_site == site)
            continue;
        site = lane->wait_site;
        simt_format_source_line(site, line);
        for (same = 0; same < count && strcmp(lines[same], line) != 0; same++)
            ;
        if (same == count) {
            strcpy(lines[count], line);
            lanes[count++] = lane;
        }
    }
    return count;
}

/**
 * Describes threads of the block that wait at call sites other than that of `but`: one at a barrier, one at a
 * collective and, for each line at which threads wait for an mbarrier, one there. Writes "" if there are none.
 */
static void describe_waits(const struct block *block, const struct lane *but, char text[WAITS_TEXT])
{
    const struct lane *waits[2 + MAX_WAIT_LINES] = {
        first_lane(block, offsetof(struct warp, lanes_at_barrier), but->wait_site),
        first_lane(block, offsetof(struct warp, lanes_at_collective), but->wait_site)};
    const unsigned count = 2 + find_mbarrier_waits(block, waits + 2);
    char barrier[BARRIER_NAME_SIZE], state[512];
    size_t length = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < count && length < WAITS_TEXT; i++) {
        const struct lane *const lane = waits[i];

        if (!lane || lane == but)
            continue;
        if (i == 0)
            simt_awaited_barrier_name(lane, barrier);
        const char *const at = i == 0   ? barrier
                               : i == 1 ? simt_awaited_collective_name(&block->warp[lane->thread / WARP_LANES],
                                                                       lane->thread % WARP_LANES)
                                        : "an mbarrier";

        length += (size_t)snprintf(text + length, WAITS_TEXT - length,
                                   "%s thread (%u,%u,%u) waits at %s" SIMT_PC_LOCATION_FORMAT,
                                   length > 0 ? " and" : "; meanwhile", lane->thread_index.x, lane->thread_index.y,
                                   lane->thread_index.z, at, lane->wait_site);
        if (i < 2 || length >= WAITS_TEXT)
            continue;
        simt_mbarrier_describe_wait(lane, state, sizeof state);
        length += (size_t)snprintf(text + length, WAITS_TEXT - length, " %s,", state);
    }
    if (length > 0 && length < WAITS_TEXT && text[length - 1] == ',')
        text[length - 1] = '\0';
}

/** Reports an endless loop if the block has exceeded the event limit, or if all threads poll without progress. */
static void check_budget(struct warp *warp)
{
    enum { EVENTS_PER_POLL = 4 }; /* events charged per poll; small, so that threads may poll for a long time */
    const bool in_vain = simt_launch_progress.num_polls_since_progress >= simt_event_limit / EVENTS_PER_POLL;
    const int64_t events = simt_launch_progress_num_counted_events() - simt_launch_progress.events_at_last_block_end;

    if (!in_vain && events / (int64_t)simt_launch_progress.num_resident_blocks < (int64_t)simt_event_limit)
        return;
    const unsigned i = lowest_lane(warp->ready_lanes ? warp->ready_lanes : warp->lanes);
    const struct lane *lane = &simt_running.warp_lanes[i];

    if (in_vain) {
        char also[WAITS_TEXT], word[ARRAY_TEXT_SIZE], writes[WRITES_TEXT];
        const bool may_search = simt_polls_read_several_addresses();
        const bool may_miss_blocks = !simt_current_launch.is_cooperative;

        describe_waits(simt_running.block, lane, also);
        simt_describe_last_polled_word(word);
        simt_describe_writes_near_last_poll(writes);
        char *const advice = strstr(writes, SIMT_ADVICE_PREFIX);
        const int before_advice = advice ? (int)(advice - writes) : 0;

        simt_fault_thread(
            cudaErrorLaunchTimeout, lane->thread_index, simt_last_replayed_pc, "endless loop?",
            "still polled here%s%s%s after about %.1f million polls in a row, by all running threads, that "
            "changed nothing (volatile loads and atomics; a sleep counts as 16 polls): no thread writes "
            "the value that it waits for%.*s%s%ssome thread must write the value, by an atomic or with a fence%s%s; if "
            "the loop does end, the environment variable SIMT_EVENT_LIMIT raises the limit",
            *word ? ", for a value" : "", word, *word ? "," : "",
            (double)simt_launch_progress.num_polls_since_progress / 1e6, before_advice, writes, also,
            advice ? advice : SIMT_ADVICE_PREFIX,
            may_miss_blocks ? ", and another block's value takes a cooperative launch" : "",
            may_search ? "; or, if it searches a table, the table may be full: bound the number of probes" : "");
        return;
    }
    char number[NUMBER_TEXT_SIZE];

    simt_fault_thread(cudaErrorLaunchTimeout, lane->thread_index, simt_last_replayed_pc, "endless loop?",
                      "was still here after %s events of its block: loads, stores and branches",
                      simt_format_thousands_separated(simt_event_limit, number));
}

/** Ends the lanes that wait at a collective, which lanes that a fault has ended will not reach. */
static void end_waiting(struct warp *warp)
{
    warp->finished_lanes |= warp->lanes_at_collective;
    warp->faulted_lanes |= warp->lanes_at_collective;
    warp->lanes_at_collective = warp->lanes_at_iteration_end = 0;
}

/**
 * Runs a warp until no lane can continue. Ends its turn earlier if the warp sleeps or has polled for a long time, so
 * that other warps can run.
 */
static void warp_run(struct block *block, struct warp *warp)
{
    enum { TURN = 64 };
    lane_mask ran = 0;

    simt_set_running_warp(block, warp);
    take_events(warp);
    for (int full = 0; warp->ready_lanes && !simt_faulted;) {
        simt_running.has_called_nanosleep = false;
        const lane_mask runs = lanes_with_room(warp);

        ran |= runs;
        simt_lanes_run(runs);
        if (simt_faulted)
            return;
        NOTIFY_OBSERVERS(lanes_stopped, warp);
        simt_replay_events_as_warp_instructions(warp);
        check_budget(warp);
        if (warp->ready_lanes && (++full == TURN || simt_running.has_called_nanosleep)) {
            park_events(warp, ran);
            return;
        }
        if (warp->lanes_at_collective && SIMT_UNLIKELY(warp->faulted_lanes))
            end_waiting(warp);
        else if (warp->lanes_at_collective)
            simt_collectives_complete_arrived(warp, !warp->ready_lanes || (WARP_LANES == 64 && !lanes_with_room(warp)));
    }
}

void simt_block_reset(struct block *block)
{
    simt_order_begin_block(block->number);
    simt_fault_dismiss_suspected_up_to(SUSPECT_RACE);
    simt_running.block = block;
    block->num_threads_at_grid_barrier = 0;
    block->barrier_predicate_sum = 0;
    block->opened_barriers_hash = 0;
    block->has_register_requests = false;
    for (unsigned i = 0; i < block->num_warps; i++) {
        struct warp *warp = &block->warp[i];

        warp->ready_lanes = warp->lanes;
        warp->lanes_at_collective = warp->lanes_at_barrier = warp->lanes_at_mbarrier = warp->finished_lanes =
            warp->faulted_lanes = warp->fully_replayed_lanes = warp->bypassing_lanes = 0;
        warp->lanes_at_iteration_end = 0;
        warp->ordering.syncwarp_ordered_before_epoch = warp->ordering.partially_synced_lanes = 0;
        warp->num_branches_awaiting_successors = 0;
        warp->num_accesses_bypassing_collectives = warp->lanes_past_bypassed_collective = 0;
        warp->has_parked_events = false;
        memset(warp->collective_mask, 0, sizeof warp->collective_mask);
    }
    for (unsigned i = 0; i < block->num_threads; i++) {
        block->lane[i].next_position_key = KEY_CALLS_LEFT_OUTSIDE_KERNEL;
        block->lane[i].calls_left = KEY_CALLS_LEFT_OUTSIDE_KERNEL;
        block->lane[i].access_exceeds_event_buffer = false;
        block->lane[i].packed_last_load = 0;
        block->lane[i].awaited_mbarrier = 0;
        block->lane[i].wait_site = 0;
        block->lane[i].call_or_iteration_frame = NULL;
        block->lane[i].first_async_copy = block->lane[i].last_async_copy = block->lane[i].num_committed_copy_groups = 0;
        block->lane[i].group_wait_site = 0;
        block->lane[i].requested_registers = block->lane[i].register_requests_hash = 0;
    }
}

static unsigned count_lanes(const struct block *block, size_t member)
{
    unsigned count = 0;

    for (unsigned i = 0; i < block->num_warps; i++) {
        lane_mask mask;

        memcpy(&mask, (const char *)&block->warp[i] + member, sizeof mask);
        count += lane_count(mask);
    }
    return count;
}

/** Runs each ready warp for one turn. Returns whether any lane ran. */
static bool run_ready_warps(struct block *block)
{
    const uint64_t round = simt_turns_begin_round_get_hash();
    bool ran = false;

    for (unsigned turn = 0; turn < block->num_warps && !simt_faulted; turn++) {
        struct warp *warp = &block->warp[simt_turns_block_or_warp_at(round, turn, block->num_warps)];

        if (warp->ready_lanes) {
            warp_run(block, warp);
            ran = true;
        }
    }
    return ran;
}

/** Lists a thread at each line at which threads of the block wait, except that of `but`. */
static void list_waits(const struct block *block, const struct lane *but, char text[WAITS_TEXT])
{
    const struct lane *waits[2 + MAX_WAIT_LINES] = {
        first_lane(block, offsetof(struct warp, lanes_at_barrier), but->wait_site),
        first_lane(block, offsetof(struct warp, lanes_at_collective), but->wait_site)};
    const unsigned count = 2 + find_mbarrier_waits(block, waits + 2);
    size_t length = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < count && length < WAITS_TEXT; i++) {
        if (waits[i] && waits[i] != but)
            length += (size_t)snprintf(
                text + length, WAITS_TEXT - length, "%s thread (%u,%u,%u)" SIMT_PC_LOCATION_FORMAT,
                length > 0 ? "," : "; others wait, probably in consequence:", waits[i]->thread_index.x,
                waits[i]->thread_index.y, waits[i]->thread_index.z, waits[i]->wait_site);
    }
}

/** Reports that no lane can continue, because lanes wait at mbarriers. */
static void fault_mbarriers(const struct block *block)
{
    const struct lane *waits[MAX_WAIT_LINES];
    const unsigned count = find_mbarrier_waits(block, waits);
    char state[512], also[WAITS_TEXT], advice[512];

    for (unsigned i = 0; i < count; i++) {
        if (!simt_mbarrier_wait_is_overtaken_by_several(waits[i]))
            continue;
        simt_mbarrier_describe_overtaken_wait(waits[i], state, sizeof state);
        list_waits(block, waits[i], also);
        simt_mbarrier_advise_on_waits(&waits[i], 1, advice, sizeof advice);
        simt_fault_thread(cudaErrorLaunchFailure, waits[i]->thread_index, waits[i]->wait_site, "deadlock",
                          "waits %s%s%s", state, also, advice);
        return;
    }
    also[0] = '\0';
    if (!simt_mbarrier_wait_lacks_only_bytes(waits[0]))
        describe_waits(block, waits[0], also);
    simt_mbarrier_describe_wait(waits[0], state, sizeof state);
    simt_mbarrier_advise_on_waits(waits, count, advice, sizeof advice);
    simt_fault_thread(cudaErrorLaunchFailure, waits[0]->thread_index, waits[0]->wait_site, "deadlock", "waits %s%s%s",
                      state, also, advice);
}

/**
 * Advises on a barrier at `barrier` that threads have missed, of which one has ended the kernel or gone on to `gone`:
 * before the barrier in the source, it has probably returned there.
 */
static void advise_on_missed_barrier(uintptr_t barrier, uintptr_t gone, char *text, size_t size)
{
    if (gone && simt_call_is_after_in_source(barrier, gone))
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX "do not return" SIMT_PC_LOCATION_FORMAT
                                    " before the barrier: guard only the work with the condition, and let all threads "
                                    "reach the barrier",
                 gone);
    else
        text[0] = '\0';
}

/** Reports why no lane can continue; if there are several reasons, reports the most likely one. */
static void fault_stuck(struct block *block, unsigned at_barrier, unsigned done)
{
    const struct lane *waits = first_lane(block, offsetof(struct warp, lanes_at_barrier), 0);
    const struct lane *gone = first_lane(block, offsetof(struct warp, finished_lanes), 0);
    const struct lane *warp_wait = first_lane(block, offsetof(struct warp, lanes_at_collective), 0);
    const struct lane *mbarrier_wait = first_lane(block, offsetof(struct warp, lanes_at_mbarrier), 0);
    char detail[768], waiting[32], others[32], barrier[BARRIER_NAME_SIZE], advice[300] = "";

    if (mbarrier_wait) {
        fault_mbarriers(block);
        return;
    }
    if (at_barrier && at_barrier + done == block->num_threads) {
        simt_fault_dismiss_if_after_missed_barrier(block, waits->wait_site);
        const bool is_past = block->warp[gone->thread / WARP_LANES].faulted_lanes >> gone->thread % WARP_LANES & 1;

        simt_awaited_barrier_name(waits, barrier);
        snprintf(waiting, sizeof waiting, at_barrier > 1 ? "and %u more wait" : "waits", at_barrier - 1);
        snprintf(others, sizeof others, " and %u more", done - 1);
        if (!is_past)
            advise_on_missed_barrier(waits->wait_site, gone->wait_site, advice, sizeof advice);
        simt_fault_thread(
            cudaErrorLaunchFailure, waits->thread_index, waits->wait_site, "barrier that some threads miss",
            "%s at %s, but thread (%u,%u,%u)%s %s %s" SIMT_PC_LOCATION_FORMAT
            "%s: every thread of the %s must reach it%s",
            waiting, barrier, gone->thread_index.x, gone->thread_index.y, gone->thread_index.z, done > 1 ? others : "",
            done > 1 ? "have" : "has", is_past ? "gone on without it, now" : "ended the kernel", gone->wait_site,
            is_past ? "" : " without it", waits->barrier_id == GRID_BARRIER ? "grid" : "block", advice);
        return;
    }
    const unsigned lane = warp_wait->thread % WARP_LANES;
    const struct warp *warp = &block->warp[warp_wait->thread / WARP_LANES];
    const lane_mask missing = simt_collective_missing_lanes(warp, lane);

    simt_collective_describe_wait(block, warp, lane, missing, detail, sizeof detail);
    simt_fault_thread(cudaErrorLaunchFailure, warp_wait->thread_index, warp_wait->wait_site, "deadlock", "%s", detail);
}

/** Returns whether any warp's turn ended while the warp could have continued. */
static bool has_parked(const struct block *block)
{
    for (unsigned i = 0; i < block->num_warps; i++) {
        if (block->warp[i].has_parked_events)
            return true;
    }
    return false;
}

enum block_state simt_block_run_turn(struct block *block)
{
    while (!simt_faulted) {
        if (run_ready_warps(block)) {
            if (simt_current_launch.is_cooperative && has_parked(block))
                return BLOCK_RUNNING;
            continue;
        }
        const unsigned done = count_lanes(block, offsetof(struct warp, finished_lanes));
        const unsigned at_barrier = count_lanes(block, offsetof(struct warp, lanes_at_barrier));

        if (done == block->num_threads) {
            simt_fault_confirm();
            if (!simt_faulted)
                simt_mbarriers_check_no_copies_in_flight(block);
            if (!simt_faulted)
                simt_products_check_warpgroups_agree(block);
            if (!simt_faulted)
                simt_register_requests_check_agree_and_fit(block);
            break;
        }
        if (simt_mbarrier_expire_timed_waits(block))
            continue;
        if (at_barrier < block->num_threads) {
            fault_stuck(block, at_barrier, done);
            break;
        }
        simt_block_barrier_check_and_open(block);
        if (block->num_threads_at_grid_barrier)
            return BLOCK_AT_GRID_BARRIER;
    }
    return BLOCK_DONE;
}
