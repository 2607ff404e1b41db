/**
 * @file vector_clocks.c
 * @brief Stores vector clocks as trees of epochs that share subtrees. A node with one reference is modified in place;
 *        any other node is copied first.
 */
#include "vector_clocks.h"

#include "machine/fault.h"
#include "machine/pages.h"
#include "machine/program_image.h"

#include <string.h>

enum {
    BRANCH_BITS = CLOCK_BRANCH_BITS,
    BRANCHES = CLOCK_BRANCHES,
    QUARTER = BRANCHES / 4,
    CHUNK_NODES = 4096,
    CHUNKS = 1 << 14
};

struct vector_clock {
    uint32_t references;
    uint32_t all; /**< lower bound of the epochs of all threads below this node */
    union {
        struct vector_clock *child[BRANCHES]; /**< except at the lowest level */
        uint32_t epoch[BRANCHES];
        struct vector_clock *next_free;
    };
};

static struct pool {
    struct vector_clock *chunk[CHUNKS];
    size_t used; /**< number of nodes used for the first time in this launch */
    struct vector_clock *free;
} pool;

/**
 * Number of levels above the lane level: large enough that the grid's threads use at most a quarter of the top level's
 * branches.
 */
static unsigned top;

void simt_vector_clocks_reset(uint64_t num_blocks)
{
    pool.used = 0;
    pool.free = NULL;
    top = 1;
    for (uint64_t rest = BRANCHES / QUARTER * num_blocks - 1; rest > 0; rest >>= BRANCH_BITS)
        top++;
}

uint64_t simt_pseudo_thread_of_async_proxy(uint64_t thread, int space)
{
    return thread + ((uint64_t)(1 + space) * QUARTER << top * BRANCH_BITS);
}

uint64_t simt_pseudo_thread_of_overlapped_launches(void)
{
    return (uint64_t)3 * QUARTER << top * BRANCH_BITS;
}

static struct vector_clock *new_node(void)
{
    static struct vector_clock none;
    struct vector_clock *node = pool.free;

    if (node) {
        pool.free = node->next_free;
    } else {
        struct vector_clock **chunk = &pool.chunk[pool.used / CHUNK_NODES % CHUNKS];

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

struct vector_clock *simt_vector_clock_add_reference(struct vector_clock *clock)
{
    if (clock)
        clock->references++;
    return clock;
}

static void drop(struct vector_clock *clock, unsigned level)
{
    if (!clock || --clock->references > 0)
        return;
    for (unsigned i = 0; i < BRANCHES && level > 0; i++)
        drop(clock->child[i], level - 1);
    clock->next_free = pool.free;
    pool.free = clock;
}

void simt_vector_clock_drop_reference(struct vector_clock *clock)
{
    drop(clock, top);
}

/** Returns a node with the contents of `clock` and a single reference, and releases `clock`. */
static struct vector_clock *own(struct vector_clock *clock, unsigned level)
{
    if (!clock)
        return new_node();
    if (clock->references == 1)
        return clock;
    struct vector_clock *copy = new_node();

    memcpy(copy, clock, sizeof *copy);
    copy->references = 1;
    for (unsigned i = 0; i < BRANCHES && level > 0; i++)
        simt_vector_clock_add_reference(copy->child[i]);
    clock->references--;
    return copy;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static struct vector_clock *raise_to(struct vector_clock *clock, unsigned level, uint64_t thread,
                                     enum vector_clock_level whose, uint32_t epoch)
{
    const unsigned branch = thread >> level * BRANCH_BITS & (BRANCHES - 1);

    clock = own(clock, level);
    if (level + 1 == (unsigned)whose)
        clock->all = later(clock->all, epoch);
    else if (level == 0)
        clock->epoch[branch] = later(clock->epoch[branch], epoch);
    else
        clock->child[branch] = raise_to(clock->child[branch], level - 1, thread, whose, epoch);
    return clock;
}

struct vector_clock *simt_vector_clock_advance(struct vector_clock *clock, uint64_t thread,
                                               enum vector_clock_level level, uint32_t epoch)
{
    return raise_to(clock, top, thread, level, epoch);
}

/**
 * Returns whether `clock` includes all of `other`, given that the nodes above `clock` include all threads up to epoch
 * `all`.
 */
static bool covers(const struct vector_clock *clock, const struct vector_clock *other, unsigned level, uint32_t all)
{
    if (!other || clock == other)
        return true;
    all = later(all, clock ? clock->all : 0);
    if (other->all > all)
        return false;
    for (unsigned i = 0; i < BRANCHES; i++) {
        if (level == 0 ? other->epoch[i] > later(all, clock ? clock->epoch[i] : 0)
                       : !covers(clock ? clock->child[i] : NULL, other->child[i], level - 1, all))
            return false;
    }
    return true;
}

static struct vector_clock *join(struct vector_clock *clock, struct vector_clock *other, unsigned level)
{
    if (!other || clock == other)
        return clock;
    if (!clock)
        return simt_vector_clock_add_reference(other);
    clock = own(clock, level);
    clock->all = later(clock->all, other->all);
    for (unsigned i = 0; i < BRANCHES; i++) {
        if (level == 0)
            clock->epoch[i] = later(clock->epoch[i], other->epoch[i]);
        else
            clock->child[i] = join(clock->child[i], other->child[i], level - 1);
    }
    return clock;
}

struct vector_clock *simt_vector_clock_join(struct vector_clock *clock, struct vector_clock *other)
{
    return covers(clock, other, top, 0) ? clock : join(clock, other, top);
}

struct vector_clock *simt_vector_clock_join_into_async_proxy(struct vector_clock *clock, struct vector_clock *other,
                                                             int space)
{
    if (!other)
        return clock;
    clock = own(clock, top);
    for (unsigned i = 0; i < QUARTER; i++) {
        struct vector_clock **child = &clock->child[(1 + space) * QUARTER + i];

        if (!covers(*child, other->child[i], top - 1, 0))
            *child = join(*child, other->child[i], top - 1);
    }
    return clock;
}

uint32_t simt_vector_clock_epoch(const struct vector_clock *clock, uint64_t thread)
{
    uint32_t epoch = 0;

    for (unsigned level = top; clock; level--) {
        const unsigned branch = thread >> level * BRANCH_BITS & (BRANCHES - 1);

        epoch = later(epoch, clock->all);
        if (level == 0)
            return later(epoch, clock->epoch[branch]);
        clock = clock->child[branch];
    }
    return epoch;
}
