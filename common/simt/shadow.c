/**
 * @file shadow.c
 * @brief The slow halves of the race check: who else touched a word, and whether anything orders it before now.
 */
#include "shadow.h"

#include "fault.h"
#include "program_image.h"

uintptr_t simt_sites[1 << SITE_BITS];

void simt_site_add(uintptr_t pc)
{
    uintptr_t *site = &simt_sites[pc & CELL_SITE];

    if (*site == 0)
        *site = pc;
    else if (*site != pc)
        *site = SITE_SHARED;
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
    const bool here = simt_same_block(tick);
    char kind[48];
    char who[96];

    simt_fault_dismiss();
    snprintf(kind, sizeof kind, "%s memory race", space_name(space));
    if (here && thread == simt_order.thread >> CELL_THREAD_SHIFT)
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
        simt_ordered(cell->write_tick, cell->write >> CELL_THREAD_SHIFT))
        return;
    fault_race(access, overlap, was_atomic ? "updated atomically" : "wrote", cell->write, cell->write_tick, false, pc,
               space);
}

void simt_check_readers(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access, uintptr_t pc,
                        enum shadow_space space)
{
    const unsigned thread = cell->read >> CELL_THREAD_SHIFT;
    const unsigned me = simt_order.thread >> CELL_THREAD_SHIFT;
    const uint32_t tick = cell->read_tick;
    const unsigned readers = (cell->read & CELL_READERS) >> CELL_READERS_SHIFT;

    if (space == SPACE_SHARED && simt_is_unowned(cell))
        simt_fault_unowned(cell, bytes, access, pc);
    if (simt_ordered_by_fence(tick))
        return;
    if (readers != READERS_IN_GRID && simt_same_block(tick) && tick < simt_order.block.barrier_end)
        return;
    if (readers == READERS_ONE && simt_ordered(tick, thread))
        return;
    /* Which lanes read is not kept: a __syncwarp of this lane since then may have ordered them all. */
    if (readers == READERS_IN_WARP && simt_same_block(tick) && thread / WARP_LANES == me / WARP_LANES &&
        simt_ordered_warp(tick))
        return;
    fault_race(access, cell->read & bytes, "read", cell->read, tick, readers != READERS_ONE, pc, space);
}

void simt_merge_read(struct shadow_cell *cell, uint32_t read)
{
    const uint32_t before = cell->read;
    const unsigned readers = (before & CELL_READERS) >> CELL_READERS_SHIFT;
    const uint32_t common = before & read & CELL_BYTES;
    const uint32_t tick = cell->read_tick;
    const bool here = simt_same_block(tick);
    const bool same_thread = (before ^ read) >> CELL_THREAD_SHIFT == 0;
    const bool same_warp = (before ^ read) >> (CELL_THREAD_SHIFT + 5) == 0;
    unsigned relation = READERS_IN_GRID;

    if (here) {
        relation = same_thread ? READERS_ONE : same_warp ? READERS_IN_WARP : READERS_IN_BLOCK;
        /* A read ordered before this one need not be kept: what races with it races with this one or is ordered too. */
        if ((readers < READERS_IN_GRID && tick < simt_order.block.barrier_end) ||
            (readers <= READERS_IN_WARP && same_warp && tick < simt_order.warp->sync_end)) {
            cell->read_tick = simt_order.tick;
            cell->read = read;
            return;
        }
    }
    if (common == 0) {
        if (readers == READERS_ONE) {
            cell->read_tick = simt_order.tick;
            cell->read = read | (here && same_thread ? before & CELL_BYTES : 0);
        }
        return;
    }
    if (relation < readers)
        relation = readers;
    cell->read_tick = simt_order.tick;
    if (relation == READERS_ONE)
        cell->read = read | (before & CELL_BYTES);
    else
        cell->read = (read & ~CELL_BYTES) | common | relation << CELL_READERS_SHIFT;
}

void simt_note_uninitialised(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access, uintptr_t pc)
{
    const int count = __builtin_popcount(bytes);

    /* What comes of the first such value, an index perhaps, is no news: let it go on, the race may yet be found. */
    if (simt_fault_suspected())
        return;
    if (simt_is_unowned(cell))
        simt_fault_unowned(cell, bytes, access, pc);
    simt_fault_suspect(cudaErrorLaunchFailure, pc, "uninitialised shared memory",
                       "reads %d byte%s that no thread of the block has written", count, count == 1 ? "" : "s");
}
