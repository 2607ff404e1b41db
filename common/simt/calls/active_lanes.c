/** @file active_lanes.c  Finds the active lanes of a warp from the positions at which its lanes wait. */
#include "active_lanes.h"

#include "device_calls.h"

static struct source_position position_of_frame(const struct simt_call_or_iteration_frame *frame)
{
    return (struct source_position){frame->enclosing_call, frame->position_key};
}

/** Returns the position of a lane's next event. */
static struct source_position position_of_lane(const struct lane *lane)
{
    const struct simt_call_or_iteration_frame *frame = lane->call_or_iteration_frame;

    return (struct source_position){frame && frame->is_iteration ? frame->enclosing_call : frame,
                                    lane->next_position_key};
}

void simt_call_or_iteration_begins(struct simt_call_or_iteration_frame *frame, int is_iteration)
{
    struct lane *lane = simt_running.lane;

    if (!lane)
        return;
    if (!is_iteration)
        lane->next_position_key = key_of_next_step(lane->next_position_key);
    const struct source_position here = position_of_lane(lane);

    frame->outer_frame = lane->call_or_iteration_frame;
    frame->enclosing_call = here.call_frame;
    frame->call_depth = (here.call_frame ? here.call_frame->call_depth : 0) + !is_iteration;
    frame->position_key = is_iteration ? here.position_key >> KEY_BASIC_BLOCK_SHIFT << KEY_BASIC_BLOCK_SHIFT
                                       : here.position_key;
    frame->is_iteration = is_iteration;
    lane->call_or_iteration_frame = frame;
}

static int compare_keys(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/**
 * Compares two positions by the chains of calls that led to them, outermost call first, and then by their keys. Returns
 * a negative number if `a` comes first.
 */
static int compare(struct source_position a, struct source_position b)
{
    const unsigned calls_a = a.call_frame ? a.call_frame->call_depth : 0,
                   calls_b = b.call_frame ? b.call_frame->call_depth : 0;
    int order;

    if (calls_a > calls_b) {
        order = compare(position_of_frame(a.call_frame), b);
        return order ? order : 1;
    }
    if (calls_a < calls_b)
        return -compare(b, a);
    order = calls_a ? compare(position_of_frame(a.call_frame), position_of_frame(b.call_frame)) : 0;
    return order ? order : compare_keys(a.position_key, b.position_key);
}

/** Returns the position of a waiting lane; for a lane at the end of an iteration, the position of the loop. */
static struct source_position position_at(const struct warp *warp, unsigned lane)
{
    const struct lane *waiting = &simt_running.warp_lanes[lane];

    return warp->lanes_at_iteration_end >> lane & 1 ? position_of_frame(waiting->call_or_iteration_frame)
                                                    : position_of_lane(waiting);
}

/** Returns the lanes in `left` that wait at the earliest position in the source, and stores that position in *first. */
static lane_mask first_of(const struct warp *warp, lane_mask left, struct source_position *first)
{
    lane_mask group = 0;

    FOR_EACH_LANE (i, left) {
        const struct source_position position = position_at(warp, (unsigned)i);
        const int order = group ? compare(position, *first) : -1;

        if (order > 0)
            continue;
        group = (order == 0 ? group : 0) | lane_bit((unsigned)i);
        *first = position;
    }
    return group;
}

/** Returns the lanes that are executing an iteration of the loop at `loop`, or wait at the end of one. */
static lane_mask lanes_inside(const struct warp *warp, struct source_position loop)
{
    lane_mask inside = 0;

    FOR_EACH_LANE (i, warp->lanes & ~warp->finished_lanes) {
        const struct simt_call_or_iteration_frame *frame = simt_running.warp_lanes[i].call_or_iteration_frame;

        while (frame && !(frame->is_iteration && compare(position_of_frame(frame), loop) == 0))
            frame = frame->outer_frame;
        inside |= (lane_mask)(frame != NULL) << i;
    }
    return inside;
}

lane_mask simt_lanes_waiting_at_earliest_position(const struct warp *warp)
{
    lane_mask left = warp->lanes_at_collective;
    lane_mask group = 0;

    while (left) {
        struct source_position first;

        group = first_of(warp, left, &first);
        left = (group & warp->lanes_at_iteration_end) ? lanes_inside(warp, first) & warp->lanes_at_collective & ~group
                                                      : 0;
    }
    return group;
}

void simt_find_event_replay_limits(const struct warp *warp, struct source_position lane_limits[WARP_LANES])
{
    lane_mask left = warp->lanes_at_collective;
    lane_mask unlimited = warp->lanes;

    for (unsigned i = 0; i < WARP_LANES; i++)
        lane_limits[i] = (struct source_position){NULL, UINT64_MAX};
    while (left && unlimited) {
        struct source_position first;
        const lane_mask group = first_of(warp, left, &first);
        const lane_mask inside = (group & warp->lanes_at_iteration_end) ? lanes_inside(warp, first) : 0;

        FOR_EACH_LANE (i, unlimited & ~inside)
            lane_limits[i] = first;
        unlimited &= inside;
        left &= ~group;
    }
}

uint64_t simt_replay_limit_as_key_at_depth_of(struct source_position limit, uint64_t other_key)
{
    while (limit.call_frame && (limit.position_key & KEY_CALLS_LEFT_MASK) < (other_key & KEY_CALLS_LEFT_MASK))
        limit = position_of_frame(limit.call_frame);
    return limit.position_key;
}
