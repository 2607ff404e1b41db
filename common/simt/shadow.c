/**
 * @file shadow.c
 * @brief The slow halves of the race check: who else touched a word, and whether anything orders it before now.
 */
#include "shadow.h"

#include <inttypes.h>

uintptr_t simt_sites[1 << SITE_BITS];

void simt_site_add(uintptr_t pc)
{
    uintptr_t *site = &simt_sites[pc & CELL_SITE];

    if (*site == 0)
        *site = pc;
    else if (*site != pc)
        *site = SITE_SHARED;
}

static bool same_block(uint32_t tick)
{
    return tick >= simt_now.segment_tick ||
           (tick >= simt_now.block_tick && simt_block_at(tick) == simt_now.block->number);
}

/** Something made visible by a fence, and this block has read an atomic since: taken as ordered, whoever did it. */
static bool ordered_by_fence(uint32_t tick)
{
    return tick < simt_now.fence_end && tick < simt_now.acquire_end;
}

/** Whether `lane` of the running warp, when it did something at `tick`, is ordered before now by a __syncwarp. */
static bool ordered_in_warp(uint32_t tick, unsigned lane)
{
    const struct warp *warp = simt_now.warp;
    const unsigned me = simt_now.lane->thread % WARP_LANES;

    return tick < warp->sync_end || ((warp->partial >> me & 1) && tick < warp->known[me][lane]);
}

static bool ordered(uint32_t tick, unsigned thread)
{
    const unsigned me = simt_now.lane->thread;

    if (same_block(tick)) {
        if (thread == me || tick < simt_now.barrier_end)
            return true;
        if (thread / WARP_LANES == me / WARP_LANES && ordered_in_warp(tick, thread % WARP_LANES))
            return true;
    }
    return ordered_by_fence(tick);
}

static const char *const does[] = {"reads", "writes", "updates atomically"};

static const char *space_name(enum shadow_space space)
{
    return space == SPACE_SHARED ? "shared" : "global";
}

static uintptr_t site_pc(uint32_t cell)
{
    const uintptr_t pc = simt_sites[cell & CELL_SITE];

    return pc == SITE_SHARED ? 0 : pc;
}

/** Ends the launch: the running thread's `access` and what the thread in `cell` `did` at `tick` are unordered. */
static _Noreturn void fault_race(enum shadow_access access, uint32_t bytes, const char *did, uint32_t cell,
                                 uint32_t tick, bool others, uintptr_t pc, enum shadow_space space)
{
    const unsigned thread = cell >> CELL_THREAD_SHIFT;
    const uint3 index = simt_thread_index(thread);
    const uint3 block = simt_block_index(simt_block_at(tick));
    const int count = __builtin_popcount(bytes);
    const bool here = same_block(tick);
    char kind[48];
    char who[96];

    simt_uninitialised_forget();
    snprintf(kind, sizeof kind, "%s memory race", space_name(space));
    if (here && thread == simt_now.lane->thread)
        snprintf(who, sizeof who, "another thread");
    else if (here)
        snprintf(who, sizeof who, "thread (%u,%u,%u)", index.x, index.y, index.z);
    else
        snprintf(who, sizeof who, "thread (%u,%u,%u) of block (%u,%u,%u)", index.x, index.y, index.z, block.x, block.y,
                 block.z);
    simt_fault_here(cudaErrorLaunchFailure, pc, kind, "%s %d byte%s that %s %s" SIMT_PLACE "%s%s", does[access], count,
                    count == 1 ? "" : "s", who, did, site_pc(cell), others ? " (and others too)" : "",
                    here ? ", no barrier between" : ", and blocks are not ordered");
}

void simt_check_writer(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access, uintptr_t pc,
                       enum shadow_space space)
{
    const uint32_t overlap = cell->write & bytes;
    const bool was_atomic = (cell->write & CELL_ATOMIC) != 0;

    if (overlap == 0 || (access == ACCESS_ATOMIC && was_atomic) ||
        ordered(cell->write_tick, cell->write >> CELL_THREAD_SHIFT))
        return;
    fault_race(access, overlap, was_atomic ? "updated atomically" : "wrote", cell->write, cell->write_tick, false, pc,
               space);
}

void simt_check_readers(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access, uintptr_t pc,
                        enum shadow_space space)
{
    const unsigned thread = cell->read >> CELL_THREAD_SHIFT;
    const unsigned me = simt_now.lane->thread;
    const uint32_t tick = cell->read_tick;
    const unsigned readers = (cell->read & CELL_READERS) >> CELL_READERS_SHIFT;

    if (space == SPACE_SHARED && simt_is_nobodys(cell))
        simt_fault_nobodys(cell, bytes, access, pc);
    if (ordered_by_fence(tick))
        return;
    if (readers != READERS_IN_GRID && same_block(tick) && tick < simt_now.barrier_end)
        return;
    if (readers == READERS_ONE && ordered(tick, thread))
        return;
    if (readers == READERS_IN_WARP && same_block(tick) && thread / WARP_LANES == me / WARP_LANES) {
        const struct warp *warp = simt_now.warp;

        /* Which lanes read is not kept: a partial __syncwarp of this lane since then may have ordered them all. */
        if (tick < warp->sync_end)
            return;
        for (unsigned lane = 0; (warp->partial >> me % WARP_LANES & 1) && lane < WARP_LANES; lane++) {
            if (lane != me % WARP_LANES && tick < warp->known[me % WARP_LANES][lane])
                return;
        }
    }
    fault_race(access, cell->read & bytes, "read", cell->read, tick, readers != READERS_ONE, pc, space);
}

void simt_merge_read(struct shadow_cell *cell, uint32_t read)
{
    const uint32_t before = cell->read;
    const unsigned readers = (before & CELL_READERS) >> CELL_READERS_SHIFT;
    const uint32_t common = before & read & CELL_BYTES;
    const uint32_t tick = cell->read_tick;
    const bool here = same_block(tick);
    const bool same_thread = (before ^ read) >> CELL_THREAD_SHIFT == 0;
    const bool same_warp = (before ^ read) >> (CELL_THREAD_SHIFT + 5) == 0;
    unsigned relation = READERS_IN_GRID;

    if (here) {
        relation = same_thread ? READERS_ONE : same_warp ? READERS_IN_WARP : READERS_IN_BLOCK;
        /* A read ordered before this one need not be kept: what races with it races with this one or is ordered too. */
        if ((readers < READERS_IN_GRID && tick < simt_now.barrier_end) ||
            (readers <= READERS_IN_WARP && same_warp && tick < simt_now.warp->sync_end)) {
            cell->read_tick = simt_now.tick;
            cell->read = read;
            return;
        }
    }
    if (common == 0) {
        if (readers == READERS_ONE) {
            cell->read_tick = simt_now.tick;
            cell->read = read | (here && same_thread ? before & CELL_BYTES : 0);
        }
        return;
    }
    if (relation < readers)
        relation = readers;
    cell->read_tick = simt_now.tick;
    if (relation == READERS_ONE)
        cell->read = read | (before & CELL_BYTES);
    else
        cell->read = (read & ~CELL_BYTES) | common | relation << CELL_READERS_SHIFT;
}

_Noreturn void simt_fault_blocked(uintptr_t address, uint32_t bytes, bool write, uintptr_t pc)
{
    const int count = __builtin_popcount(bytes);
    char where[160];

    simt_arena_describe(address, where, sizeof where);
    simt_fault_here(cudaErrorIllegalAddress, pc, "out-of-bounds global access", "%s %d byte%s %s",
                    write ? "writes" : "reads", count, count == 1 ? "" : "s", where);
}

static struct uninitialised {
    const struct lane *lane; /**< NULL: there has been none */
    uintptr_t pc;
    uint32_t bytes;
} uninitialised;

void simt_note_uninitialised(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access, uintptr_t pc)
{
    /* What comes of the first such value, an index perhaps, is no news: let it go on, the race may yet be found. */
    if (uninitialised.lane)
        return;
    if (simt_is_nobodys(cell))
        simt_fault_nobodys(cell, bytes, access, pc);
    uninitialised = (struct uninitialised){.lane = simt_now.lane, .pc = pc, .bytes = bytes};
}

void simt_uninitialised_forget(void)
{
    uninitialised.lane = NULL;
}

bool simt_uninitialised_fault(void)
{
    const struct lane *lane = uninitialised.lane;
    const int count = __builtin_popcount(uninitialised.bytes);

    if (!lane)
        return false;
    uninitialised.lane = NULL;
    simt_fault_lane(cudaErrorLaunchFailure, lane, uninitialised.pc, "uninitialised shared memory",
                    "reads %d byte%s that no thread of the block has written", count, count == 1 ? "" : "s");
    return true;
}
