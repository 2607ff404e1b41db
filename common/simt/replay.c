/**
 * @file replay.c
 * @brief From what each lane did to what the warp issued: requests, sectors, wavefronts, divergent branches.
 *
 * Of the lanes' next events the one with the deepest call, then the smallest address, is issued, for every lane that is at
 * it. Compilers lay out blocks so that lanes which part meet again at the join, as on the hardware; no control-flow graph
 * is needed.
 */
#include "log.h"

#include <string.h>

#define SUCCESSOR_EXIT UINT64_MAX

uintptr_t simt_last_pc;

/** Lanes of `group` went on to `successor`: settles the basic blocks they came from. */
static void steps_leave(struct warp *warp, uint32_t group, uint64_t successor)
{
    for (int i = 0; i < warp->open_count;) {
        struct open_step *step = &warp->open[i];

        if (step->mask & group) {
            if (step->successor == 0) {
                step->successor = successor;
            } else if (step->successor != successor && !step->diverged) {
                step->diverged = 1;
                simt_counters.divergent_branches++;
            }
            step->mask &= ~group;
            if (step->mask == 0) {
                *step = warp->open[--warp->open_count];
                continue;
            }
        }
        i++;
    }
}

static void issue_basic_block(struct warp *warp, uint32_t group, uint64_t key)
{
    simt_counters.basic_blocks++;
    simt_counters.lanes_active += (unsigned)__builtin_popcount(group);
    simt_counters.lanes_possible += WARP_LANES;

    if (warp->open_count == 1 && warp->open[0].mask == group) {
        struct open_step *step = &warp->open[0];

        /* The whole group goes on to one place: it diverged only if others left this step for somewhere else. */
        if (step->successor != 0 && step->successor != key && !step->diverged)
            simt_counters.divergent_branches++;
        *step = (struct open_step){.mask = group};
        return;
    }
    steps_leave(warp, group, key);
    warp->open[warp->open_count++] = (struct open_step){.mask = group};
}

/** How many different 32-byte sectors the accesses touch. */
static unsigned count_sectors(const uint64_t *offset, unsigned count, unsigned bytes)
{
    enum { WINDOW = 64 };
    uint64_t lowest = offset[0];
    uint64_t highest = offset[0];

    for (unsigned i = 1; i < count; i++) {
        lowest = offset[i] < lowest ? offset[i] : lowest;
        highest = offset[i] > highest ? offset[i] : highest;
    }
    lowest /= 32;
    if ((highest + bytes - 1) / 32 - lowest < WINDOW) {
        uint64_t seen = 0;

        for (unsigned i = 0; i < count; i++)
            seen |= UINT64_C(1) << (offset[i] / 32 - lowest);
        /* An aligned access of at most 16 bytes lies in one sector. */
        return (unsigned)__builtin_popcountll(seen);
    }

    uint64_t sector[WARP_LANES];
    unsigned distinct = 0;

    for (unsigned i = 0; i < count; i++) {
        const uint64_t this_one = offset[i] / 32;
        unsigned j = distinct;

        /* Neighbouring lanes are likely neighbours: look at the latest first. */
        while (j > 0 && sector[j - 1] != this_one)
            j--;
        if (j == 0)
            sector[distinct++] = this_one;
    }
    return distinct;
}

/** Passes over the 32 banks that one phase of a shared access takes. */
static unsigned count_phase(const uint32_t *word, unsigned count, unsigned words_each)
{
    uint32_t in_bank[WARP_LANES]; /* a word of the bank */
    uint32_t used = 0;
    bool conflict = false;

    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < words_each; k++) {
            const uint32_t at = word[i] + k;
            const unsigned bank = at % WARP_LANES;

            if (!(used >> bank & 1)) {
                used |= 1u << bank;
                in_bank[bank] = at;
            } else {
                conflict |= in_bank[bank] != at;
            }
        }
    }
    if (!conflict)
        return used != 0;

    uint32_t distinct[WARP_LANES][WARP_LANES];
    uint8_t depth[WARP_LANES] = {0};
    unsigned deepest = 0;

    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < words_each; k++) {
            const uint32_t at = word[i] + k;
            const unsigned bank = at % WARP_LANES;
            unsigned j = depth[bank];

            while (j > 0 && distinct[bank][j - 1] != at)
                j--;
            if (j == 0) {
                distinct[bank][depth[bank]++] = at;
                if (depth[bank] > deepest)
                    deepest = depth[bank];
            }
        }
    }
    return deepest;
}

/** Wavefronts of a shared request, and in `least` the fewest it could have had: 8 bytes go half a warp at a time. */
static unsigned count_wavefronts(const uint64_t *offset, const uint8_t *lane, unsigned count, unsigned bytes,
                                 unsigned *least)
{
    const unsigned words_each = bytes < 4 ? 1 : bytes / 4;
    const unsigned lanes_each = WARP_LANES / words_each;
    unsigned wavefronts = 0;
    uint32_t word[WARP_LANES];

    *least = 0;
    for (unsigned i = 0; i < count;) {
        const unsigned phase = lane[i] / lanes_each;
        unsigned in_phase = 0;

        for (; i < count && lane[i] / lanes_each == phase; i++)
            word[in_phase++] = (uint32_t)(offset[i] / 4);
        wavefronts += count_phase(word, in_phase, words_each);
        ++*least;
    }
    return wavefronts;
}

/** Lanes that found their address taken by an earlier one. */
static unsigned count_taken(const uint64_t *offset, unsigned count)
{
    unsigned taken = 0;

    for (unsigned i = 1; i < count; i++) {
        unsigned j = i;

        while (j > 0 && offset[j - 1] != offset[i])
            j--;
        taken += j > 0;
    }
    return taken;
}

static void issue_request(enum event_kind kind, unsigned bytes, const uint64_t *offset, const uint8_t *lane,
                          unsigned count)
{
    struct simt_counters *counters = &simt_counters;
    unsigned least = 0;
    unsigned wavefronts;

    switch (kind) {
    case EVENT_GLOBAL_LOAD:
        counters->global_load_requests++;
        counters->global_load_sectors += count_sectors(offset, count, bytes);
        break;
    case EVENT_GLOBAL_STORE:
        counters->global_store_requests++;
        counters->global_store_sectors += count_sectors(offset, count, bytes);
        break;
    case EVENT_SHARED_LOAD:
        wavefronts = count_wavefronts(offset, lane, count, bytes, &least);
        counters->shared_load_requests++;
        counters->shared_load_wavefronts += wavefronts;
        counters->shared_conflicts += wavefronts - least;
        break;
    case EVENT_SHARED_STORE:
        wavefronts = count_wavefronts(offset, lane, count, bytes, &least);
        counters->shared_store_requests++;
        counters->shared_store_wavefronts += wavefronts;
        counters->shared_conflicts += wavefronts - least;
        break;
    case EVENT_GLOBAL_ATOMIC:
    case EVENT_SHARED_ATOMIC:
        counters->atomic_requests++;
        counters->atomic_conflicts += count_taken(offset, count);
        break;
    case EVENT_BASIC_BLOCK:
        break;
    }
}

/** One memory instruction of the lanes in `group`, each at its event `at`; a generic pointer may split it by space. */
static void issue_memory(const struct lane *lanes, uint32_t group, size_t at)
{
    uint64_t offset[WARP_LANES];
    uint8_t lane[WARP_LANES];

    while (group) {
        const uint64_t what = lanes[__builtin_ctz(group)].head[at].access >> EVENT_BYTES_SHIFT;
        const enum event_kind kind = (enum event_kind)(what >> (EVENT_KIND_SHIFT - EVENT_BYTES_SHIFT));
        uint32_t others = 0;
        unsigned count = 0;

        for (uint32_t left = group; left; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctz(left);
            const uint64_t access = lanes[i].head[at].access;

            if (access >> EVENT_BYTES_SHIFT != what) {
                others |= 1u << i;
                continue;
            }
            offset[count] = access & EVENT_OFFSET_MASK;
            lane[count++] = (uint8_t)i;
        }
        issue_request(kind, what & 0xff, offset, lane, count);
        if (SIMT_UNLIKELY(simt_logging))
            simt_log_request(kind, what & 0xff, group & ~others, at);
        group = others;
    }
}

/** How many events from their heads the lanes of `group` share, all with keys below `below`; at least one. */
static size_t common_run(const struct lane *lanes, uint32_t group, uint64_t below)
{
    const struct lane *leader = &lanes[__builtin_ctz(group)];
    const struct event *lead = leader->head;
    size_t run = (size_t)(leader->cursor - lead);

    for (size_t i = 1; i < run; i++) {
        if (lead[i].key >= below) {
            run = i;
            break;
        }
    }
    for (uint32_t left = group & (group - 1); left; left &= left - 1) {
        const struct lane *lane = &lanes[__builtin_ctz(left)];
        const struct event *mine = lane->head;
        const size_t have = (size_t)(lane->cursor - mine);
        size_t i = 0;

        if (have < run)
            run = have;
        while (i < run && mine[i].key == lead[i].key)
            i++;
        run = i;
    }
    return run;
}

static void issue_run(struct warp *warp, struct lane *lanes, uint32_t group, size_t run)
{
    const struct event *lead = lanes[__builtin_ctz(group)].head;

    for (size_t i = 0; i < run; i++) {
        if (lead[i].access >> EVENT_KIND_SHIFT == EVENT_BASIC_BLOCK)
            issue_basic_block(warp, group, lead[i].key);
        else
            issue_memory(lanes, group, i);
    }
    for (uint32_t left = group; left; left &= left - 1)
        lanes[__builtin_ctz(left)].head += run;
    simt_last_pc = lead[run - 1].key & EVENT_PC_MASK;
    simt_counters.events += run * (unsigned)__builtin_popcount(group);
}

/** Lanes with events left; of these, in `group`, the ones to go first, and in `below` the key of the best of the rest. */
static uint32_t choose(const struct lane *lanes, uint32_t candidates, uint32_t *group, uint64_t *below)
{
    uint64_t best = UINT64_MAX;
    uint32_t present = 0;

    *group = 0;
    *below = UINT64_MAX;
    for (uint32_t left = candidates; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);

        if (lanes[i].head == lanes[i].cursor)
            continue;
        const uint64_t key = lanes[i].head->key;

        present |= 1u << i;
        if (key < best) {
            *below = best;
            best = key;
            *group = 1u << i;
        } else if (key == best) {
            *group |= 1u << i;
        } else if (key < *below) {
            *below = key;
        }
    }
    return present;
}

/** Moves what is left of the lanes' traces to the front of their buffers. */
static void compact(struct lane *lanes, uint32_t mask)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        struct lane *lane = &lanes[__builtin_ctz(left)];
        struct event *start = lane->limit - TRACE_EVENTS;
        const size_t rest = (size_t)(lane->cursor - lane->head);

        if (rest > 0 && lane->head != start)
            memmove(start, lane->head, rest * sizeof *start);
        lane->head = start;
        lane->cursor = start + rest;
    }
}

void simt_replay(struct warp *warp)
{
    struct lane *lanes = simt_now.warp_lane;
    uint32_t candidates = warp->lanes;
    uint32_t group;
    uint64_t below;

    for (;;) {
        candidates = choose(lanes, candidates, &group, &below);

        const uint32_t finished = warp->done & ~candidates & ~warp->closed;

        if (finished) {
            steps_leave(warp, finished, SUCCESSOR_EXIT);
            warp->closed |= finished;
            if (SIMT_UNLIKELY(simt_logging))
                simt_log_return(finished);
        }
        if (candidates == 0 || (warp->ready & ~candidates))
            break;
        issue_run(warp, lanes, group, common_run(lanes, group, below));
    }
    compact(lanes, warp->lanes);
}
