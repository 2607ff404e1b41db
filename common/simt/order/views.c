/**
 * @file views.c
 * @brief Trees of ticks that share their branches. What one view alone has is changed in place, anything else is
 * copied.
 */
#include "views.h"

#include "machine/fault.h"
#include "machine/pages.h"
#include "machine/program_image.h"

#include <string.h>

enum { BRANCH_BITS = 5, BRANCHES = 1 << BRANCH_BITS, QUARTER = BRANCHES / 4, CHUNK_NODES = 4096, CHUNKS = 1 << 14 };

struct view {
    uint32_t references;
    uint32_t all; /**< of every thread below */
    union {
        struct view *child[BRANCHES]; /**< of the lowest level there are none */
        uint32_t tick[BRANCHES];
        struct view *next_free;
    };
};

static struct pool {
    struct view *chunk[CHUNKS];
    size_t used; /**< nodes handed out for the first time in this launch */
    struct view *free;
} pool;

/** Levels above that of lanes: so many that the threads take a quarter of the highest one's branches. */
static unsigned top;

void simt_views_reset(uint64_t blocks)
{
    pool.used = 0;
    pool.free = NULL;
    top = 1;
    for (uint64_t rest = BRANCHES / QUARTER * blocks - 1; rest > 0; rest >>= BRANCH_BITS)
        top++;
}

uint64_t simt_view_by_proxy(uint64_t thread, int space)
{
    return thread + ((uint64_t)(1 + space) * QUARTER << top * BRANCH_BITS);
}

static struct view *new_node(void)
{
    static struct view none;
    struct view *node = pool.free;

    if (node) {
        pool.free = node->next_free;
    } else {
        struct view **chunk = &pool.chunk[pool.used / CHUNK_NODES % CHUNKS];

        if (!*chunk)
            *chunk = pages_map(CHUNK_NODES * sizeof **chunk);
        if (!*chunk || pool.used / CHUNK_NODES >= CHUNKS) {
            simt_fault_thread(cudaErrorMemoryAllocation, simt_thread_idx, 0, "out of memory",
                              "waits for more fences than the simulator can remember");
            node = &none;
        } else {
            node = &(*chunk)[pool.used++ % CHUNK_NODES];
        }
    }
    memset(node, 0, sizeof *node);
    node->references = 1;
    return node;
}

struct view *simt_view_keep(struct view *view)
{
    if (view)
        view->references++;
    return view;
}

static void drop(struct view *view, unsigned level)
{
    if (!view || --view->references > 0)
        return;
    for (unsigned i = 0; i < BRANCHES && level > 0; i++)
        drop(view->child[i], level - 1);
    view->next_free = pool.free;
    pool.free = view;
}

void simt_view_drop(struct view *view)
{
    drop(view, top);
}

/** A node that nobody else has, in place of `view`. */
static struct view *own(struct view *view, unsigned level)
{
    if (!view)
        return new_node();
    if (view->references == 1)
        return view;
    struct view *copy = new_node();

    memcpy(copy, view, sizeof *copy);
    copy->references = 1;
    for (unsigned i = 0; i < BRANCHES && level > 0; i++)
        simt_view_keep(copy->child[i]);
    view->references--;
    return copy;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static struct view *raise_to(struct view *view, unsigned level, uint64_t thread, enum view_level whose, uint32_t tick)
{
    const unsigned branch = thread >> level * BRANCH_BITS & (BRANCHES - 1);

    view = own(view, level);
    if (level + 1 == (unsigned)whose)
        view->all = later(view->all, tick);
    else if (level == 0)
        view->tick[branch] = later(view->tick[branch], tick);
    else
        view->child[branch] = raise_to(view->child[branch], level - 1, thread, whose, tick);
    return view;
}

struct view *simt_view_raise(struct view *view, uint64_t thread, enum view_level level, uint32_t tick)
{
    return raise_to(view, top, thread, level, tick);
}

/** Whether `view`, below somebody who knows all up to `all`, has nothing to learn of `other`. */
static bool covers(const struct view *view, const struct view *other, unsigned level, uint32_t all)
{
    if (!other || view == other)
        return true;
    all = later(all, view ? view->all : 0);
    if (other->all > all)
        return false;
    for (unsigned i = 0; i < BRANCHES; i++) {
        if (level == 0 ? other->tick[i] > later(all, view ? view->tick[i] : 0)
                       : !covers(view ? view->child[i] : NULL, other->child[i], level - 1, all))
            return false;
    }
    return true;
}

static struct view *join(struct view *view, struct view *other, unsigned level)
{
    if (!other || view == other)
        return view;
    if (!view)
        return simt_view_keep(other);
    view = own(view, level);
    view->all = later(view->all, other->all);
    for (unsigned i = 0; i < BRANCHES; i++) {
        if (level == 0)
            view->tick[i] = later(view->tick[i], other->tick[i]);
        else
            view->child[i] = join(view->child[i], other->child[i], level - 1);
    }
    return view;
}

struct view *simt_view_join(struct view *view, struct view *other)
{
    return covers(view, other, top, 0) ? view : join(view, other, top);
}

struct view *simt_view_join_by_proxy(struct view *view, struct view *news, int space)
{
    if (!news)
        return view;
    view = own(view, top);
    for (unsigned i = 0; i < QUARTER; i++) {
        struct view **child = &view->child[(1 + space) * QUARTER + i];

        if (!covers(*child, news->child[i], top - 1, 0))
            *child = join(*child, news->child[i], top - 1);
    }
    return view;
}

uint32_t simt_view_tick(const struct view *view, uint64_t thread)
{
    uint32_t tick = 0;

    for (unsigned level = top; view; level--) {
        const unsigned branch = thread >> level * BRANCH_BITS & (BRANCHES - 1);

        tick = later(tick, view->all);
        if (level == 0)
            return later(tick, view->tick[branch]);
        view = view->child[branch];
    }
    return tick;
}
