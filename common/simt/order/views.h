/**
 * @file views.h
 * @brief Vector clocks for a grid: for each of its threads, the tick up to which somebody knows what it did.
 *
 * A view is a tree of 32 branches a level: blocks, the warps of a block, the lanes of a warp. Views share what they
 * have in common and are counted, so that handing one on costs nothing and joining two costs what is different. NULL
 * knows nothing.
 */
#ifndef SIMT_VIEWS_H
#define SIMT_VIEWS_H

#include "machine/device_limits.h"

#include <stdint.h>

struct view;

/** Whose tick is raised: a lane's, or that of all threads of a warp or of a block. */
enum view_level { VIEW_LANE, VIEW_WARP, VIEW_BLOCK };

/** A launch of so many blocks begins: all views there were are gone. */
void simt_views_reset(uint64_t blocks);

static inline uint64_t view_thread(uint32_t block, unsigned thread)
{
    return (uint64_t)block * BLOCK_THREADS + thread;
}

/**
 * The same thread, as copies and products see it that go by another way to memory than loads and stores do: what they
 * may see of what it did in a space, 0 or 1. A view has that in quarters of its branches of their own.
 */
uint64_t simt_view_by_proxy(uint64_t thread, int space);

struct view *simt_view_keep(struct view *view);
void simt_view_drop(struct view *view);
/** These two take `view` over and return what has become of it. */
struct view *simt_view_join(struct view *view, struct view *other);
struct view *simt_view_raise(struct view *view, uint64_t thread, enum view_level level, uint32_t tick);
/** Of all that `news` knows, what is behind a fence between the two ways; takes `view` over. */
struct view *simt_view_join_by_proxy(struct view *view, struct view *news, int space);
/** What the thread did at ticks below this is known. */
uint32_t simt_view_tick(const struct view *view, uint64_t thread);

#endif
