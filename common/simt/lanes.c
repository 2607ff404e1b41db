/**
 * @file lanes.c
 * @brief The lanes of a warp run one after another: from each to the next, and at the end to the scheduler.
 */
#include "lanes.h"

#include "shadow.h"

struct running simt_now;
struct launch simt_current;
struct work simt_work;

void simt_warp_enter(struct block *block, struct warp *warp)
{
    simt_now.warp = warp;
    simt_now.warp_lane = &block->lane[warp->first];
    simt_order.warp = &warp->order;
}

void simt_lanes_run(uint32_t lanes)
{
    struct lane *first = simt_now.warp_lane + __builtin_ctz(lanes);

    simt_now.runnable = lanes & (lanes - 1);
    lane_enter(first);
    simt_fiber_switch(&fiber_home, first->stack_pointer);
    simt_now.lane = NULL;
}

void simt_lane_leave(void)
{
    struct lane *self = simt_now.lane;
    const uint32_t runnable = simt_now.runnable;

    self->loaded = simt_order.loaded;
    if (runnable) {
        struct lane *next = simt_now.warp_lane + __builtin_ctz(runnable);

        simt_now.runnable = runnable & (runnable - 1);
        lane_enter(next);
        simt_fiber_switch(&self->stack_pointer, next->stack_pointer);
    } else {
        simt_fiber_switch(&self->stack_pointer, fiber_home);
    }
}

void simt_lane_main(void)
{
    for (;;) {
        simt_current.call(simt_current.arguments);

        if (SIMT_UNLIKELY(simt_races_noted))
            simt_race_confirm();
        const uint32_t self = 1u << simt_now.lane->thread % WARP_LANES;
        struct warp *warp = simt_now.warp;

        warp->ready &= ~self;
        warp->done |= self;
        simt_lane_leave();
    }
}
