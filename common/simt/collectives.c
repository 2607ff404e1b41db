/**
 * @file collectives.c
 * @brief Shuffles, votes, matches, reductions and __syncwarp: lanes that name each other in a mask meet here.
 *
 * Each arrival writes its operand beside its lane and leaves. When every lane of a mask that has not returned is at the
 * same collective with the same mask, all of them get their results and are ready again. Lanes with other masks do not
 * matter to them.
 */
#include "kernel_calls.h"

#include "device_calls.h"
#include "fault.h"
#include "observer.h"
#include "shadow.h"

#include <string.h>

enum { CALL_WIDTH_SHIFT = 8, CALL_AGREED = 0xffff, CALL_BYTES_SHIFT = 16 };

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
    COLLECTIVE_ACTIVE,
};

static const char *const names[] = {
    [COLLECTIVE_SHUFFLE_INDEX] = "__shfl_sync",
    [COLLECTIVE_SHUFFLE_UP] = "__shfl_up_sync",
    [COLLECTIVE_SHUFFLE_DOWN] = "__shfl_down_sync",
    [COLLECTIVE_SHUFFLE_XOR] = "__shfl_xor_sync",
    [COLLECTIVE_BALLOT] = "__ballot_sync",
    [COLLECTIVE_ANY] = "__any_sync",
    [COLLECTIVE_ALL] = "__all_sync",
    [COLLECTIVE_MATCH_ANY] = "__match_any_sync",
    [COLLECTIVE_MATCH_ALL] = "__match_all_sync",
    [COLLECTIVE_REDUCE_ADD] = "__reduce_add_sync",
    [COLLECTIVE_REDUCE_MIN] = "__reduce_min_sync",
    [COLLECTIVE_REDUCE_MAX] = "__reduce_max_sync",
    [COLLECTIVE_REDUCE_MIN_SIGNED] = "__reduce_min_sync",
    [COLLECTIVE_REDUCE_MAX_SIGNED] = "__reduce_max_sync",
    [COLLECTIVE_REDUCE_AND] = "__reduce_and_sync",
    [COLLECTIVE_REDUCE_OR] = "__reduce_or_sync",
    [COLLECTIVE_REDUCE_XOR] = "__reduce_xor_sync",
    [COLLECTIVE_SYNCWARP] = "__syncwarp",
    [COLLECTIVE_ACTIVE] = "__activemask",
};

static enum collective collective_of(uint64_t call)
{
    return (enum collective)(call & 0xff);
}

/** Arrives and waits; the result is in the lane's value. */
static inline uint64_t meet(uint32_t mask, uint64_t call, uint64_t value, int argument, uintptr_t site)
{
    struct lane *lane = simt_now.lane;
    struct warp *warp = simt_now.warp;
    const unsigned i = lane->thread % WARP_LANES;
    const uint32_t self = 1u << i;

    if (SIMT_UNLIKELY(simt_races_noted))
        simt_race_confirm();
    if (SIMT_UNLIKELY(!(mask & self)))
        simt_fault_here(cudaErrorLaunchFailure, site, "lane not in its own mask",
                        "calls %s with mask 0x%08" PRIx32 ", which lacks its own lane %u", names[collective_of(call)],
                        mask, i);
    warp->mask[i] = mask;
    warp->call[i] = call;
    warp->value[i] = value;
    warp->argument[i] = argument;
    warp->ready &= ~self;
    warp->waiting |= self;
    lane->site = site;
    lane->call = 0;
    simt_order.loaded = 0;
    simt_work.arrivals++;
    simt_lane_leave();
    return warp->value[i];
}

uint64_t simt_shuffle(uint32_t mask, enum simt_shuffle kind, uint64_t value, int argument, int width, unsigned bytes)
{
    if (SIMT_UNLIKELY(width < 1 || width > WARP_LANES || (width & (width - 1)) != 0))
        simt_fault_here(cudaErrorLaunchFailure, SIMT_CALLER(), "bad shuffle width",
                        "shuffles with width %d, not a power of two up to 32", width);
    return meet(mask, (uint64_t)kind | (unsigned)width << CALL_WIDTH_SHIFT | bytes << CALL_BYTES_SHIFT, value, argument,
                SIMT_CALLER());
}

uint32_t simt_ballot(uint32_t mask, int predicate)
{
    return (uint32_t)meet(mask, COLLECTIVE_BALLOT, predicate != 0, 0, SIMT_CALLER());
}

int simt_any(uint32_t mask, int predicate)
{
    return (int)meet(mask, COLLECTIVE_ANY, predicate != 0, 0, SIMT_CALLER());
}

int simt_all(uint32_t mask, int predicate)
{
    return (int)meet(mask, COLLECTIVE_ALL, predicate != 0, 0, SIMT_CALLER());
}

uint32_t simt_match_any(uint32_t mask, uint64_t value)
{
    return (uint32_t)meet(mask, COLLECTIVE_MATCH_ANY, value, 0, SIMT_CALLER());
}

uint32_t simt_match_all(uint32_t mask, uint64_t value)
{
    return (uint32_t)meet(mask, COLLECTIVE_MATCH_ALL, value, 0, SIMT_CALLER());
}

uint32_t simt_reduce(uint32_t mask, enum simt_reduction kind, uint32_t value)
{
    return (uint32_t)meet(mask, (uint64_t)COLLECTIVE_REDUCE_ADD + (uint64_t)kind, value, 0, SIMT_CALLER());
}

void simt_syncwarp(uint32_t mask)
{
    meet(mask, COLLECTIVE_SYNCWARP, 0, 0, SIMT_CALLER());
}

uint32_t simt_activemask(void)
{
    const uint32_t self = simt_now.lane ? 1u << simt_now.lane->thread % WARP_LANES : 0;

    return self ? (uint32_t)meet(self, COLLECTIVE_ACTIVE, 0, 0, SIMT_CALLER()) : 0;
}

unsigned simt_nth_bit(uint32_t bits, unsigned n)
{
    for (; n > 0 && bits; n--)
        bits &= bits - 1;
    return bits ? (unsigned)__builtin_ctz(bits) : 32;
}

uint32_t simt_gather_bits(uint32_t bits, uint32_t mask)
{
    uint32_t gathered = 0;
    unsigned place = 0;

    FOR_EACH_LANE (i, mask)
        gathered |= (bits >> i & 1) << place++;
    return gathered;
}

/* --- completion --------------------------------------------------------------------------------------------------- */

/** The lane that `lane` reads, or -1: it is beyond the segment, and the lane keeps its own value. */
static inline int shuffle_source(enum collective kind, int lane, int argument, int width)
{
    const int segment = lane & ~(width - 1);
    const int other = lane ^ argument;

    switch (kind) {
    case COLLECTIVE_SHUFFLE_UP:
        return (unsigned)argument <= (unsigned)(lane - segment) ? lane - argument : -1;
    case COLLECTIVE_SHUFFLE_DOWN:
        return (unsigned)argument < (unsigned)(segment + width - lane) ? lane + argument : -1;
    case COLLECTIVE_SHUFFLE_XOR:
        return other >= 0 && other < segment + width ? other : -1;
    default:
        return segment + (argument & (width - 1));
    }
}

/** False: the shuffle is a fault. */
static bool complete_shuffle(struct warp *warp, uint64_t call, struct meeting *meeting)
{
    const enum collective kind = collective_of(call);
    const int width = (int)(call >> CALL_WIDTH_SHIFT & 0xff);
    const uint32_t mask = warp->mask[__builtin_ctz(meeting->lanes)];

    FOR_EACH_LANE (lane, meeting->lanes) {
        const int source = shuffle_source(kind, lane, warp->argument[lane], width);

        meeting->from[lane] = (int8_t)source;
        if (source < 0)
            continue;
        if (SIMT_UNLIKELY(!(meeting->lanes >> source & 1))) {
            const struct lane *reader = &simt_now.warp_lane[lane];

            simt_fault_thread(cudaErrorLaunchFailure, reader->index, reader->site, "shuffle from an absent lane",
                              "reads lane %d by %s, %s (mask 0x%08" PRIx32 ")", source, names[kind],
                              !(mask >> source & 1)          ? "which is not in the mask"
                              : !(warp->lanes >> source & 1) ? "which the block does not have"
                                                             : "which has returned",
                              mask);
            return false;
        }
        warp->value[lane] = meeting->in[source];
    }
    return true;
}

static uint64_t reduce(enum collective kind, uint32_t a, uint32_t b)
{
    switch (kind) {
    case COLLECTIVE_REDUCE_ADD:
        return (uint32_t)(a + b);
    case COLLECTIVE_REDUCE_MIN:
        return a < b ? a : b;
    case COLLECTIVE_REDUCE_MAX:
        return a > b ? a : b;
    case COLLECTIVE_REDUCE_MIN_SIGNED:
        return (int32_t)a < (int32_t)b ? a : b;
    case COLLECTIVE_REDUCE_MAX_SIGNED:
        return (int32_t)a > (int32_t)b ? a : b;
    case COLLECTIVE_REDUCE_AND:
        return a & b;
    case COLLECTIVE_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void set_all(struct warp *warp, uint32_t group, uint64_t result)
{
    FOR_EACH_LANE (i, group)
        warp->value[i] = result;
}

static void complete_match_any(struct warp *warp, uint32_t group)
{
    uint32_t left = group;

    while (left) {
        const uint64_t value = warp->value[__builtin_ctz(left)];
        uint32_t same = 0;

        FOR_EACH_LANE (lane, left) {
            if (warp->value[lane] == value)
                same |= 1u << lane;
        }
        set_all(warp, same, same);
        left &= ~same;
    }
}

static void complete_vote(struct warp *warp, uint32_t group, enum collective kind)
{
    const uint64_t first = warp->value[__builtin_ctz(group)];
    uint32_t votes = 0;
    uint32_t same = 0;
    uint64_t result = first;

    if (kind == COLLECTIVE_MATCH_ANY) {
        complete_match_any(warp, group);
        return;
    }
    FOR_EACH_LANE (lane, group) {
        votes |= (uint32_t)(warp->value[lane] != 0) << lane;
        same |= (uint32_t)(warp->value[lane] == first) << lane;
    }
    if (kind >= COLLECTIVE_REDUCE_ADD) {
        FOR_EACH_LANE (i, group & (group - 1))
            result = reduce(kind, (uint32_t)result, (uint32_t)warp->value[i]);
    } else if (kind == COLLECTIVE_BALLOT) {
        result = votes;
    } else if (kind == COLLECTIVE_ANY) {
        result = votes != 0;
    } else if (kind == COLLECTIVE_ALL) {
        result = votes == group;
    } else {
        result = same == group ? group : 0;
    }
    set_all(warp, group, result);
}

/** Lanes that came to one collective from different places in the source: a GPU need not let them meet. */
static bool meet_at_one_place(uint32_t group)
{
    const struct lane *first = &simt_now.warp_lane[__builtin_ctz(group)];

    FOR_EACH_LANE (i, group & (group - 1)) {
        const struct lane *lane = &simt_now.warp_lane[i];

        if (SIMT_UNLIKELY(!lanes_at_one_call(lane, first)) &&
            !simt_check_together(lane, first, "divergent collective", names[collective_of(simt_now.warp->call[i])]))
            return false;
    }
    return true;
}

/**
 * What lanes have done that this collective names and that have returned without it: the group must not come to the
 * same.
 */
static void note_missed(struct warp *warp, uint32_t group, const char *name)
{
    const unsigned first = (unsigned)__builtin_ctz(group);
    const uint32_t absent = warp->mask[first] & warp->done;
    unsigned kept = 0;

    for (unsigned i = 0; i < warp->passed_count; i++) {
        struct passed *passed = &warp->passed[i];

        if ((passed->lanes & absent) && !passed->waited) {
            passed->lanes &= absent;
            passed->waited = group;
            passed->site = simt_now.warp_lane[first].site;
            passed->name = name;
            warp->missed |= group;
        }
        if (passed->waited || (warp->waiting & ~group))
            warp->passed[kept++] = *passed;
    }
    warp->passed_count = kept;
}

static void complete(struct warp *warp, uint32_t group, uint64_t call)
{
    const enum collective kind = collective_of(call);
    struct meeting meeting;
    bool good = true;

    if (!meet_at_one_place(group))
        return;
    if (SIMT_UNLIKELY(warp->passed_count > 0))
        note_missed(warp, group, names[kind]);
    meeting.warp = warp;
    meeting.name = names[kind];
    meeting.lanes = group;
    meeting.bytes = (unsigned)(call >> CALL_BYTES_SHIFT);
    memcpy(meeting.in, warp->value, sizeof meeting.in);
    if (kind <= COLLECTIVE_SHUFFLE_XOR) {
        meeting.kind = MEETING_SHUFFLE;
        good = complete_shuffle(warp, call, &meeting);
    } else if (kind == COLLECTIVE_SYNCWARP) {
        meeting.kind = MEETING_SYNCWARP;
        simt_order_syncwarp(&warp->order, warp->first, warp->lanes, warp->mask[__builtin_ctz(group)]);
    } else {
        meeting.kind = MEETING_VOTE;
        complete_vote(warp, group, kind);
    }
    warp->waiting &= ~group;
    warp->ready |= group;
    if (good)
        OBSERVE(lanes_met, &meeting);
}

/** Lanes waiting with the same mask at the same collective as `lane`. */
static uint32_t lanes_at_same_call(const struct warp *warp, unsigned lane)
{
    const uint32_t mask = warp->mask[lane];
    const uint64_t call = warp->call[lane];
    uint32_t group = 0;

    FOR_EACH_LANE (other, warp->waiting & mask) {
        if (warp->mask[other] == mask && ((warp->call[other] ^ call) & CALL_AGREED) == 0)
            group |= 1u << other;
    }
    return group;
}

uint32_t simt_collective_missing(const struct warp *warp, unsigned lane)
{
    return warp->mask[lane] & warp->lanes & ~warp->done & ~lanes_at_same_call(warp, lane);
}

/** Lanes that are together at one __activemask() learn who they are, once no other lane of the warp can still come. */
static void complete_active(struct warp *warp)
{
    uint32_t left = 0;

    FOR_EACH_LANE (lane, warp->waiting)
        left |= (uint32_t)(collective_of(warp->call[lane]) == COLLECTIVE_ACTIVE) << lane;
    while (left) {
        const uintptr_t site = simt_now.warp_lane[__builtin_ctz(left)].site;
        uint32_t group = 0;

        FOR_EACH_LANE (lane, left)
            group |= (uint32_t)(simt_now.warp_lane[lane].site == site) << lane;
        set_all(warp, group, group);
        warp->waiting &= ~group;
        warp->ready |= group;
        left &= ~group;
    }
}

void simt_collectives_complete(struct warp *warp)
{
    uint32_t left = warp->waiting;

    while (left && !simt_faulted) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t group = lanes_at_same_call(warp, lane);

        left &= ~group;
        if ((warp->mask[lane] & warp->lanes & ~warp->done) != group ||
            collective_of(warp->call[lane]) == COLLECTIVE_ACTIVE)
            continue;
        complete(warp, group, warp->call[lane]);
    }
    if (!warp->ready && !simt_faulted)
        complete_active(warp);
}

void simt_collective_describe(const struct block *block, const struct warp *warp, unsigned lane, uint32_t missing,
                              char *text, size_t size)
{
    const unsigned other = (unsigned)__builtin_ctz(missing);
    const struct lane *absent = &block->lane[warp->first + other];
    const char *at = "runs on";

    if (warp->at_barrier >> other & 1)
        at = "waits at __syncthreads";
    else if (warp->waiting >> other & 1)
        at = names[collective_of(warp->call[other])];
    snprintf(text, size, "waits at %s with mask 0x%08" PRIx32 " for lane %u, thread (%u,%u,%u), which %s%s" SIMT_PLACE,
             names[collective_of(warp->call[lane])], warp->mask[lane], other, absent->index.x, absent->index.y,
             absent->index.z, warp->waiting >> other & 1 ? "is at " : "", at, absent->site);
    if (warp->waiting >> other & 1 && warp->mask[other] != warp->mask[lane]) {
        const size_t length = strlen(text);

        snprintf(text + length, size - length, " with mask 0x%08" PRIx32, warp->mask[other]);
    }
}
