/**
 * @file order.c
 * @brief Ticks: what has been ordered before what by barriers, __syncwarp and fences.
 */
#include "shadow.h"

#include <string.h>

void simt_tick(void)
{
    simt_now.tick++;
}

/* Which block ran from which tick on; only messages and cooperative launches ask. */
struct segment {
    uint32_t tick;
    uint32_t block;
};

enum { SEGMENTS = 1 << 22 };
static struct segment *segments;
static size_t segment_count;

void simt_segments_clear(void)
{
    if (!segments)
        segments = simt_map(SEGMENTS * sizeof *segments);
    segment_count = 0;
}

void simt_segment_begin(uint32_t block)
{
    simt_tick();
    simt_now.segment_tick = simt_now.tick;
    if (segments && segment_count < SEGMENTS)
        segments[segment_count++] = (struct segment){.tick = simt_now.tick, .block = block};
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

void simt_order_barrier(void)
{
    simt_tick();
    simt_now.barrier_end = simt_now.tick;
    simt_now.ordered_ticks = simt_now.tick - simt_now.segment_tick;
}

void simt_order_grid(void)
{
    simt_tick();
    simt_now.launch_tick = simt_now.tick;
}

void simt_order_syncwarp(struct warp *warp, uint32_t mask)
{
    uint32_t joined[WARP_LANES] = {0};

    simt_tick();
    mask &= warp->lanes;
    if (mask == warp->lanes) {
        warp->sync_end = simt_now.tick;
        return;
    }
    /* Vector clocks, kept for the lanes that a partial mask has named. */
    for (uint32_t left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        if (!(warp->partial >> lane & 1))
            memset(warp->known[lane], 0, sizeof warp->known[lane]);
        for (unsigned other = 0; other < WARP_LANES; other++)
            joined[other] = warp->known[lane][other] > joined[other] ? warp->known[lane][other] : joined[other];
    }
    warp->partial |= mask;
    for (uint32_t left = mask; left; left &= left - 1)
        joined[__builtin_ctz(left)] = simt_now.tick;
    for (uint32_t left = mask; left; left &= left - 1)
        memcpy(warp->known[__builtin_ctz(left)], joined, sizeof joined);
}
