/**
 * @file shadow.h
 * @brief What is remembered of every 4-byte word of global and shared memory, and the check of one access against it.
 *
 * A cell holds the last write and the last read: tick, thread, which of the four bytes, and the place in the source. Two
 * accesses race if different threads made them, one is a write, not both are atomic, their bytes overlap, and nothing
 * orders them. Ticks make the usual answer cheap: what happened before the launch, or in this block before its last
 * barrier, is ordered.
 */
#ifndef SIMT_SHADOW_H
#define SIMT_SHADOW_H

#include "device_memory.h"
#include "happens_before.h"

/** Places in the source by their low bits; SITE_SHARED where two share a slot. */
extern uintptr_t simt_sites[1 << SITE_BITS];
enum { SITE_SHARED = 1 };
void simt_site_add(uintptr_t pc);

static inline uint32_t cell_site(uintptr_t pc)
{
    const uint32_t site = pc & CELL_SITE;

    if (SIMT_UNLIKELY(simt_sites[site] != pc))
        simt_site_add(pc);
    return site;
}

/** The slow halves; each returns if there is no race and ends the launch if there is one. */
void simt_check_writer(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access, uintptr_t pc,
                       enum shadow_space space);
void simt_check_readers(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access, uintptr_t pc,
                        enum shadow_space space);
void simt_merge_read(struct shadow_cell *cell, uint32_t read);
/**
 * Notes a read, or an atomic, of shared bytes that nobody has written: if somebody does so before a barrier, it is a race
 * instead. Ends the launch if the word is nobody's and there has been no such read yet.
 */
void simt_note_uninitialised(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access, uintptr_t pc);

/** Accesses before this tick are ordered before whatever happens now, whoever made them. */
static inline uint32_t shadow_horizon(enum shadow_space space)
{
    return space == SPACE_SHARED ? simt_order.block.barrier_end : simt_order.launch_tick;
}

/** Whether the access is one of this block that a barrier has ordered, or one of this very thread. */
static inline bool shadow_ordered_here(uint32_t tick, uint32_t cell)
{
    const uint32_t since = tick - simt_order.segment_tick;

    if (since < simt_order.ordered_ticks)
        return true;
    return tick >= simt_order.segment_tick && ((cell ^ simt_order.thread) >> CELL_THREAD_SHIFT) == 0;
}

/** One word of a load. `bytes` is already in its field. */
static inline void shadow_load(struct shadow_cell *cell, uint32_t bytes, uint32_t site, uintptr_t address, uintptr_t pc,
                               enum shadow_space space)
{
    const uint32_t horizon = shadow_horizon(space);
    const uint32_t read = simt_order.thread | bytes | site;
    const uint32_t state = bytes >> (CELL_BYTES_SHIFT - CELL_STATE_SHIFT);

    if (space == SPACE_GLOBAL) {
        if (SIMT_UNLIKELY(cell->write & state))
            simt_fault_forbidden(address, bytes, false, pc);
    } else if (SIMT_UNLIKELY((cell->write & state) != state || cell->write_tick < simt_order.block.block_tick)) {
        simt_note_uninitialised(cell, bytes, ACCESS_LOAD, pc);
    }
    if (SIMT_UNLIKELY(cell->write_tick >= horizon) && !shadow_ordered_here(cell->write_tick, cell->write))
        simt_check_writer(cell, bytes, ACCESS_LOAD, pc, space);

    if (SIMT_LIKELY(cell->read_tick < horizon)) {
        cell->read_tick = simt_order.tick;
        cell->read = read;
    } else {
        simt_merge_read(cell, read);
    }
}

/** One word of a store or, with `atomic` = CELL_ATOMIC, of an atomic. */
static inline void shadow_store(struct shadow_cell *cell, uint32_t bytes, uint32_t atomic, uint32_t site,
                                uintptr_t address, uintptr_t pc, enum shadow_space space)
{
    const uint32_t horizon = shadow_horizon(space);
    const uint32_t state_bytes = bytes >> (CELL_BYTES_SHIFT - CELL_STATE_SHIFT);
    uint32_t state = cell->write & CELL_STATE;

    if (space == SPACE_GLOBAL) {
        if (SIMT_UNLIKELY(state & state_bytes))
            simt_fault_forbidden(address, bytes, true, pc);
    } else {
        if (cell->write_tick < simt_order.block.block_tick)
            state = 0;
        if (atomic && SIMT_UNLIKELY((state & state_bytes) != state_bytes))
            simt_note_uninitialised(cell, bytes, ACCESS_ATOMIC, pc);
        state |= state_bytes;
    }
    uint32_t written = bytes;
    if (SIMT_UNLIKELY(cell->write_tick >= horizon)) {
        if (!shadow_ordered_here(cell->write_tick, cell->write))
            simt_check_writer(cell, bytes, atomic ? ACCESS_ATOMIC : ACCESS_STORE, pc, space);
        else if (cell->write_tick == simt_order.tick)
            written |= cell->write & CELL_BYTES;
    }
    if (SIMT_UNLIKELY(cell->read_tick >= horizon) && (cell->read & bytes) != 0 &&
        ((cell->read & CELL_READERS) != 0 || !shadow_ordered_here(cell->read_tick, cell->read)))
        simt_check_readers(cell, bytes, atomic ? ACCESS_ATOMIC : ACCESS_STORE, pc, space);

    cell->write_tick = simt_order.tick;
    cell->write = simt_order.thread | written | atomic | state | site;
}

#endif
