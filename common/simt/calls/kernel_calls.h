/** @file kernel_calls.h  What the files behind a kernel's own calls offer each other and the scheduler. */
#ifndef SIMT_KERNEL_CALLS_H
#define SIMT_KERNEL_CALLS_H

#include "lanes/lanes.h"
#include "memory/shadow.h"

/**
 * The running lane is about to do an atomic, for the threads of its block only or for all: checks and records it.
 * Outside kernels it does nothing. One that does not need the value that was there may be the first to write there.
 */
void simt_access_atomic(const void *pointer, unsigned bytes, bool in_block, bool needs_value, uintptr_t pc);

/** The running lane is about to load 16 bytes of shared memory, a row of a matrix: checks and records it. */
void simt_access_row(const void *row, uintptr_t pc);

/** Records what has been checked. */
void simt_record(uintptr_t pc, const void *address, enum event_kind kind, unsigned bytes, uint64_t offset);

/**
 * Records an EVENT_BULK_COPY or, with an mbarrier_operation, an EVENT_MBARRIER: only while memory is watched.
 * The numbers are those of the observers' lane_uses_barrier.
 */
void simt_record_barrier_use(uintptr_t pc, enum event_kind kind, unsigned operation, uint64_t offset, uint64_t number,
                             uint64_t other);

/** Ends the launch: the access is behind the dynamic shared memory that was asked for. */
_Noreturn void simt_fault_shared_bounds(unsigned bytes, bool store, uintptr_t pc);

/** Forgets the copies of a block that has ended, which nobody waits for any more. */
void simt_copies_end(struct block *block);

/**
 * The running thread's copies are no longer its own: the number of the first. From that on all of them arrive, or are
 * forgotten; it is that of what is left, should one end the launch.
 */
uint32_t simt_copies_take(void);
void simt_copies_arrive(uint32_t *first);
void simt_copies_forget(uint32_t *first);

/**
 * No lane can go on: those at a barrier in shared memory that wait but for a while do so now. Whether there are any.
 */
bool simt_mbarriers_time_out(struct block *block);
/** What a lane waits for that does so for ever, in words. */
void simt_mbarrier_describe(const struct lane *lane, char *text, size_t size);
/** The threads of a block have returned: a fault if a copy to its shared memory is under way. */
void simt_mbarriers_check(const struct block *block);
/** Forgets the barriers of a block. */
void simt_mbarriers_end(struct block *block);

/** It is about to compare and swap: if it has last loaded that, the load raced with no atomic. */
void simt_forgive_load(const void *pointer, unsigned bytes);

/** A fault if `address` comes of an index outside its array, which the rewriter's mark has led there. */
void simt_check_index(uintptr_t address, unsigned bytes, enum shadow_access access, uintptr_t pc);

/** Completes every collective of `warp` whose lanes are all there. */
void simt_collectives_complete(struct warp *warp);

/** The lanes that a waiting lane still waits for. */
uint32_t simt_collective_missing(const struct warp *warp, unsigned lane);
/** Says what a waiting lane waits for and where the first of the `missing` lanes is instead. */
void simt_collective_describe(const struct block *block, const struct warp *warp, unsigned lane, uint32_t missing,
                              char *text, size_t size);

/** All threads are at a barrier: checks that it is one, and unless it is the grid's lets them go on. */
void simt_barrier_complete(struct block *block);
/** Lets the threads of a block go on that all wait at a barrier. */
void simt_barrier_open(struct block *block);

/** While a kernel runs, signals that its instructions raise are faults. */
bool simt_signals_catch(void);
void simt_signals_release(void);

/** How large the heap may be that the kernels' own malloc() takes from. Its memory is no host's. */
extern size_t simt_heap_limit;

#endif
