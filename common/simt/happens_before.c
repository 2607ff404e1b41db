/**
 * @file happens_before.c
 * @brief Ticks pass, blocks take turns, and what is ordered before now by barriers, __syncwarp and fences.
 */
#include "happens_before.h"

#include "device_memory.h"
#include "pages.h"

#include <string.h>

struct order simt_order;

/* --- which block ran when ----------------------------------------------------------------------------------------- */

/** From a tick on; only messages and cooperative launches ask. */
struct segment {
    uint32_t tick;
    uint32_t block;
};

enum { SEGMENTS = 1 << 22 };
static struct segment *segments;
static size_t segment_count;

void simt_order_launch(void)
{
    if (!segments)
        segments = pages_map(SEGMENTS * sizeof *segments);
    segment_count = 0;
    simt_order.launch_tick = ++simt_order.tick;
    simt_order.fence_end = 0;
}

static void begin_segment(uint32_t block)
{
    simt_order.segment_tick = ++simt_order.tick;
    simt_order.ordered_ticks = 0;
    simt_order.block_number = block;
    if (segments && segment_count < SEGMENTS)
        segments[segment_count++] = (struct segment){.tick = simt_order.tick, .block = block};
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

uint32_t simt_block_at(uint32_t tick)
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
    return segment_count ? segments[low].block : 0;
}

/* --- what synchronises -------------------------------------------------------------------------------------------- */

void simt_order_barrier(void)
{
    simt_order.block.barrier_end = ++simt_order.tick;
    simt_order.ordered_ticks = simt_order.tick - simt_order.segment_tick;
}

void simt_order_grid(void)
{
    simt_order.launch_tick = ++simt_order.tick;
}

void simt_order_fence(void)
{
    simt_order.fence_end = ++simt_order.tick;
}

void simt_order_syncwarp(struct warp_order *warp, uint32_t lanes, uint32_t mask)
{
    uint32_t joined[WARP_LANES] = {0};

    simt_order.tick++;
    mask &= lanes;
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

/* --- what is ordered ---------------------------------------------------------------------------------------------- */

/** Whether `lane` of the running warp, when it did something at `tick`, is ordered before now by a __syncwarp. */
static bool ordered_in_warp(uint32_t tick, unsigned lane)
{
    const struct warp_order *warp = simt_order.warp;
    const unsigned me = (simt_order.thread >> CELL_THREAD_SHIFT) % WARP_LANES;

    return tick < warp->sync_end || ((warp->partial >> me & 1) && tick < warp->known[me][lane]);
}

bool simt_ordered_warp(uint32_t tick)
{
    const unsigned me = (simt_order.thread >> CELL_THREAD_SHIFT) % WARP_LANES;

    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        if (lane != me && ordered_in_warp(tick, lane))
            return true;
    }
    return false;
}

bool simt_ordered(uint32_t tick, unsigned thread)
{
    const unsigned me = simt_order.thread >> CELL_THREAD_SHIFT;

    if (simt_same_block(tick)) {
        if (thread == me || tick < simt_order.block.barrier_end)
            return true;
        if (thread / WARP_LANES == me / WARP_LANES && ordered_in_warp(tick, thread % WARP_LANES))
            return true;
    }
    return simt_ordered_by_fence(tick);
}
