/**
 * @file happens_before.c
 * @brief Ticks pass, blocks take turns, threads tell each other what they know, and what is ordered before now.
 */
#include "happens_before.h"

#include "machine/fault.h"
#include "machine/program_image.h"
#include "machine/room.h"
#include "shadow_cell.h"
#include "thread_sets.h"
#include "views.h"

#include <stdlib.h>
#include <string.h>

struct order simt_order;

static unsigned running_thread(void)
{
    return simt_order.thread >> CELL_THREAD_SHIFT;
}

/* --- which block ran when ----------------------------------------------------------------------------------------- */

/** From a tick on; only messages and cooperative launches ask. */
struct segment {
    uint32_t tick;
    uint32_t block : 31;
    uint32_t told : 1; /**< an atomic of the block has told others what is behind a fence */
};

static struct segment *segments;
static size_t segment_count;
static size_t segment_room;

static void begin_segment(uint32_t block)
{
    if (!simt_make_room(&segments, &segment_room, segment_count + 1, sizeof *segments)) {
        simt_fault_thread(cudaErrorMemoryAllocation, simt_thread_idx, 0, "out of memory", "is of one block too many");
        return;
    }
    simt_order.segment_tick = ++simt_order.tick;
    simt_order.ordered_ticks = 0;
    simt_order.block_number = block;
    segments[segment_count++] = (struct segment){.tick = simt_order.tick, .block = block};
}

static size_t segment_at(uint32_t tick)
{
    size_t low = 0;
    size_t high = segment_count;

    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;

        if (segments[middle].tick <= tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t simt_block_at(uint32_t tick)
{
    return segment_count ? segments[segment_at(tick)].block : 0;
}

bool simt_order_lost(uint32_t tick)
{
    return !simt_order.together && tick < simt_order.block.block_tick && !segments[segment_at(tick)].told;
}

void simt_order_begin(uint32_t number)
{
    begin_segment(number);
    simt_order.block = (struct block_order){.block_tick = simt_order.tick, .barrier_end = simt_order.tick};
}

void simt_order_resume(uint32_t number, const struct block_order *block)
{
    begin_segment(number);
    simt_order.block = *block;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/** What atomics at a place tell whoever reads it by an atomic: everybody, or the threads of one block. */
struct message {
    uintptr_t address; /**< 0: none */
    uint64_t readers;  /**< EVERYBODY or a block's number */
    unsigned bytes;
    uint32_t version; /**< of those to one block: the place's version when it was told */
    struct view *view;
};

#define EVERYBODY UINT64_MAX

static struct message *messages;
static size_t message_count;
static size_t message_room; /**< a power of two */

/** The place of a message, or where it would be. */
static struct message *slot_of(struct message *table, size_t room, uintptr_t address, uint64_t readers)
{
    size_t slot = ((address ^ readers << 48) * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

    while (table[slot & (room - 1)].address &&
           (table[slot & (room - 1)].address != address || table[slot & (room - 1)].readers != readers))
        slot++;
    return &table[slot & (room - 1)];
}

static struct message *find_message(uintptr_t address, uint64_t readers)
{
    struct message *message = message_count ? slot_of(messages, message_room, address, readers) : NULL;

    return message && message->address ? message : NULL;
}

static bool grow_messages(void)
{
    const size_t room = message_room ? 2 * message_room : 1024;
    struct message *larger = calloc(room, sizeof *larger);

    if (!larger)
        return false;
    for (size_t i = 0; i < message_room; i++) {
        if (messages[i].address)
            *slot_of(larger, room, messages[i].address, messages[i].readers) = messages[i];
    }
    free(messages);
    messages = larger;
    message_room = room;
    return true;
}

static struct message *add_message(uintptr_t address, uint64_t readers)
{
    struct message *message = find_message(address, readers);

    if (message)
        return message;
    if (2 * message_count >= message_room && !grow_messages()) {
        simt_fault_thread(cudaErrorMemoryAllocation, simt_thread_idx, 0, "out of memory",
                          "is one of too many that send messages");
        return NULL;
    }
    message = slot_of(messages, message_room, address, readers);
    *message = (struct message){.address = address, .readers = readers};
    message_count++;
    return message;
}

static void forget_view(struct view **view)
{
    simt_view_drop(*view);
    *view = NULL;
}

/** A place by which no other is meant: shared memory lies where that of other blocks does. */
static uintptr_t place_of(uintptr_t address)
{
    const bool shared = address - simt_memory.shared < simt_memory.shared_bytes;

    return shared ? address + (((uintptr_t)simt_order.block_number + 1) << 47) : address;
}

static void end_message(uintptr_t address, unsigned bytes)
{
    struct message *message = find_message(address, EVERYBODY);

    if (message && message->bytes >= bytes) {
        forget_view(&message->view);
        message->version++;
    }
}

void simt_order_overwritten(uintptr_t address)
{
    if (message_count == 0)
        return;
    address = place_of(address);
    end_message(address - 4, 8);
    for (uintptr_t at = address; at < address + 4; at++)
        end_message(at, 1);
}

/** The running thread's, with room for it. NULL: no memory. */
static struct thread_order *own_order(void)
{
    if (!simt_order.block.threads) {
        simt_order.block.threads = calloc(BLOCK_THREADS, sizeof *simt_order.block.threads);
        if (!simt_order.block.threads) {
            simt_fault_thread(cudaErrorMemoryAllocation, simt_thread_idx, 0, "out of memory",
                              "is of one block too many that fence");
            return NULL;
        }
    }
    return &simt_order.block.threads[running_thread()];
}

bool simt_order_has_fenced(void)
{
    return simt_order.block.threads && simt_order.block.threads[running_thread()].fenced_in_block;
}

bool simt_order_silent_since(uint32_t tick)
{
    const struct warp_order *warp = simt_order.warp;
    const unsigned me = running_thread();
    const uint64_t thread = view_thread(simt_order.block_number, me);
    const uint32_t *known = warp->known[me % WARP_LANES];

    return simt_order.block.barrier_end <= tick && warp->sync_end <= tick &&
           !((warp->partial >> me % WARP_LANES & 1) && known[me % WARP_LANES] > tick) &&
           !(simt_order_has_fenced() && simt_view_tick(simt_order.block.threads[me].fenced_in_block, thread) > tick);
}

static void learn(struct view **view, struct view *news)
{
    *view = simt_view_join(*view, news);
}

static void read_messages(uintptr_t address, const struct message *all)
{
    struct message *ours = find_message(address, simt_order.block_number);
    struct thread_order *order = own_order();

    if (!order)
        return;
    learn(&order->seen, all->view);
    if (ours && ours->version == all->version)
        learn(&order->seen_in_block, ours->view);
}

void simt_order_message(uintptr_t address, unsigned bytes, bool wrote, bool adding)
{
    const uintptr_t place = place_of(address);
    const struct message *all = find_message(place, EVERYBODY);

    if (all && adding && all->bytes == bytes)
        read_messages(place, all);
    if (!wrote)
        return;
    if (all && adding && all->bytes != bytes)
        end_message(place, 1);
    for (uintptr_t word = address & ~(uintptr_t)3; word < address + bytes && !adding; word += 4)
        simt_order_overwritten(word);
    const struct thread_order *order = simt_order.block.threads ? own_order() : NULL;

    if (!order || !order->fenced_in_block)
        return;
    struct message *everybody = add_message(place, EVERYBODY);
    const uint32_t version = everybody ? everybody->version : 0;

    if (everybody)
        everybody->bytes = bytes;
    if (everybody && order->fenced) {
        learn(&everybody->view, order->fenced);
        segments[segment_count - 1].told = 1;
    }
    struct message *ours = everybody ? add_message(place, simt_order.block_number) : NULL;

    if (!ours)
        return;
    if (ours->version != version)
        forget_view(&ours->view);
    ours->version = version;
    learn(&ours->view, order->fenced_in_block);
}

/* --- what synchronises -------------------------------------------------------------------------------------------- */

/** The lanes of a warp that wait at a barrier in shared memory often know the same and are told the same. */
static struct acquired {
    struct view *before, *told, *after; /**< kept, or none */
} last_acquired;

static void drop_threads(struct thread_order *threads)
{
    for (unsigned i = 0; i < BLOCK_THREADS; i++) {
        simt_view_drop(threads[i].known);
        simt_view_drop(threads[i].fenced);
        simt_view_drop(threads[i].fenced_in_block);
        simt_view_drop(threads[i].seen);
        simt_view_drop(threads[i].seen_in_block);
    }
}

void simt_order_end(struct block_order *block)
{
    if (block->threads)
        drop_threads(block->threads);
    free(block->threads);
    block->threads = NULL;
    if (block != &simt_order.block)
        simt_order.block.threads = NULL;
}

bool simt_order_launch(uint64_t blocks, bool together)
{
    segment_count = 0;
    simt_order.first_tick = simt_order.launch_tick = ++simt_order.tick;
    simt_order.alone = blocks == 1;
    simt_order.together = together;
    if (message_count > 0)
        memset(messages, 0, message_room * sizeof *messages);
    message_count = 0;
    simt_views_reset(blocks);
    last_acquired = (struct acquired){0};
    return simt_thread_sets_prepare();
}

/**
 * The threads of [first, first + 32) in `lanes` now know what any of them does: one of the five views that they have.
 */
static void share_view(struct thread_order *threads, unsigned warps, uint32_t lanes, size_t member)
{
    struct view *together = NULL;

    for (unsigned i = 0; i < warps * WARP_LANES; i++) {
        if (lanes >> i % WARP_LANES & 1)
            learn(&together, *(struct view **)((char *)&threads[i] + member));
    }
    if (!together)
        return;
    for (unsigned i = 0; i < warps * WARP_LANES; i++) {
        struct view **view = (struct view **)((char *)&threads[i] + member);

        if (!(lanes >> i % WARP_LANES & 1) || *view == together)
            continue;
        simt_view_drop(*view);
        *view = simt_view_keep(together);
    }
    simt_view_drop(together);
}

static void share(struct thread_order *threads, unsigned warps, uint32_t lanes)
{
    share_view(threads, warps, lanes, offsetof(struct thread_order, known));
    share_view(threads, warps, lanes, offsetof(struct thread_order, fenced));
    share_view(threads, warps, lanes, offsetof(struct thread_order, fenced_in_block));
    share_view(threads, warps, lanes, offsetof(struct thread_order, seen));
    share_view(threads, warps, lanes, offsetof(struct thread_order, seen_in_block));
}

void simt_order_barrier(void)
{
    simt_order.block.barrier_end = ++simt_order.tick;
    simt_order.ordered_ticks = simt_order.tick - simt_order.segment_tick;
    if (simt_order.alone)
        simt_order.launch_tick = simt_order.tick;
    if (simt_order.block.threads)
        share(simt_order.block.threads, BLOCK_WARPS, UINT32_MAX);
}

void simt_order_grid(void)
{
    simt_order.launch_tick = ++simt_order.tick;
}

void simt_order_grid_opens(struct block_order *block)
{
    block->barrier_end = simt_order.tick;
    if (block->threads)
        share(block->threads, BLOCK_WARPS, UINT32_MAX);
}

void simt_order_syncwarp(struct warp_order *warp, unsigned first, uint32_t lanes, uint32_t mask)
{
    uint32_t joined[WARP_LANES] = {0};

    simt_order.tick++;
    mask &= lanes;
    if (simt_order.block.threads)
        share(simt_order.block.threads + first, 1, mask);
    if (mask == lanes) {
        warp->sync_end = simt_order.tick;
        return;
    }
    /* Vector clocks, kept for the lanes that a partial mask has named. */
    FOR_EACH_LANE (lane, mask) {
        if (!(warp->partial >> lane & 1))
            memset(warp->known[lane], 0, sizeof warp->known[lane]);
        for (unsigned other = 0; other < WARP_LANES; other++)
            joined[other] = warp->known[lane][other] > joined[other] ? warp->known[lane][other] : joined[other];
    }
    warp->partial |= mask;
    FOR_EACH_LANE (i, mask)
        joined[i] = simt_order.tick;
    FOR_EACH_LANE (i, mask)
        memcpy(warp->known[i], joined, sizeof joined);
}

/**
 * All that is ordered before now: what the thread has been told, its block's barriers, its warp's __syncwarp, itself.
 */
static struct view *view_of_now(const struct thread_order *order)
{
    const struct warp_order *warp = simt_order.warp;
    const unsigned me = running_thread();
    const uint64_t thread = view_thread(simt_order.block_number, me);
    struct view *now = simt_view_keep(order->known);

    now = simt_view_raise(now, thread, VIEW_BLOCK, simt_order.block.barrier_end);
    now = simt_view_raise(now, thread, VIEW_WARP, warp->sync_end);
    if (warp->partial >> me % WARP_LANES & 1) {
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            now = simt_view_raise(now, thread - me % WARP_LANES + lane, VIEW_LANE, warp->known[me % WARP_LANES][lane]);
    }
    return simt_view_raise(now, thread, VIEW_LANE, simt_order.tick);
}

void simt_order_fence(bool in_block)
{
    struct thread_order *order = own_order();

    if (!order)
        return;
    learn(&order->known, order->seen_in_block);
    if (!in_block)
        learn(&order->known, order->seen);
    simt_order.tick++;
    struct view *now = view_of_now(order);

    learn(&order->fenced_in_block, now);
    if (!in_block)
        learn(&order->fenced, now);
    simt_view_drop(now);
}

void simt_order_release(struct view **told)
{
    struct thread_order *order = own_order();

    if (!order)
        return;
    simt_order.tick++;
    struct view *now = view_of_now(order);

    learn(told, now);
    simt_view_drop(now);
}

void simt_order_release_write(struct view **told, unsigned thread, uint32_t tick)
{
    *told = simt_view_raise(*told, view_thread(simt_order.block_number, thread), VIEW_LANE, tick + 1);
}

void simt_order_acquire(struct view *told)
{
    struct thread_order *order = told ? own_order() : NULL;

    if (!order)
        return;
    if (order->known == last_acquired.before && told == last_acquired.told) {
        simt_view_drop(order->known);
        order->known = simt_view_keep(last_acquired.after);
        return;
    }
    const struct acquired old = last_acquired;

    last_acquired.before = simt_view_keep(order->known);
    last_acquired.told = simt_view_keep(told);
    learn(&order->known, told);
    last_acquired.after = simt_view_keep(order->known);
    simt_view_drop(old.before);
    simt_view_drop(old.told);
    simt_view_drop(old.after);
}

void simt_order_proxy_fence(int space)
{
    struct thread_order *order = own_order();

    if (!order)
        return;
    simt_order.tick++;
    struct view *now = view_of_now(order);

    order->known = simt_view_join_by_proxy(order->known, now, space);
    simt_view_drop(now);
}

/* --- what is ordered ---------------------------------------------------------------------------------------------- */

/** Whether `lane` of the running warp, when it did something at `tick`, is ordered before now by a __syncwarp. */
static bool ordered_in_warp(uint32_t tick, unsigned lane)
{
    const struct warp_order *warp = simt_order.warp;
    const unsigned me = running_thread() % WARP_LANES;

    return tick < warp->sync_end || ((warp->partial >> me & 1) && tick < warp->known[me][lane]);
}

static bool ordered_by_message(uint32_t tick, uint32_t block, unsigned thread, bool volatile_load)
{
    const uint64_t whose = view_thread(block, thread);

    if (!simt_order.block.threads)
        return false;
    const struct thread_order *order = &simt_order.block.threads[running_thread()];

    if (tick < simt_view_tick(order->known, whose))
        return true;
    return volatile_load &&
           (tick < simt_view_tick(order->seen, whose) || tick < simt_view_tick(order->seen_in_block, whose));
}

bool simt_ordered(uint32_t tick, unsigned thread, bool volatile_load)
{
    const unsigned me = running_thread();
    const bool here = simt_same_block(tick);

    if (tick < simt_order.launch_tick)
        return true;
    if (here) {
        if (thread == me || tick < simt_order.block.barrier_end)
            return true;
        if (thread / WARP_LANES == me / WARP_LANES && ordered_in_warp(tick, thread % WARP_LANES))
            return true;
    }
    return ordered_by_message(tick, here ? simt_order.block_number : simt_block_at(tick), thread, volatile_load);
}

bool simt_all_ordered(uint32_t tick, const struct thread_set *threads, bool volatile_load, unsigned *thread,
                      unsigned *count)
{
    *count = 0;
    if (tick < simt_order.launch_tick || (tick < simt_order.block.barrier_end && simt_same_block(tick)))
        return true;
    FOR_EACH_LANE (warp, threads->warps) {
        FOR_EACH_LANE (lane, threads->lanes[warp]) {
            if (!simt_ordered(tick, warp * WARP_LANES + lane, volatile_load) && (*count)++ == 0)
                *thread = warp * WARP_LANES + lane;
        }
    }
    return *count == 0;
}

bool simt_ordered_by_proxy(uint32_t tick, unsigned thread, int space)
{
    const uint32_t block = simt_same_block(tick) ? simt_order.block_number : simt_block_at(tick);

    return simt_order.block.threads && tick < simt_view_tick(simt_order.block.threads[running_thread()].known,
                                                             simt_view_by_proxy(view_thread(block, thread), space));
}
