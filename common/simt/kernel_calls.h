/** @file kernel_calls.h  What the files behind a kernel's own calls offer each other and the scheduler. */
#ifndef SIMT_KERNEL_CALLS_H
#define SIMT_KERNEL_CALLS_H

#include "lanes.h"
#include "shadow.h"

/**
 * The running lane is about to do an atomic, for the threads of its block only or for all: checks and records it. Outside
 * kernels it does nothing. One that does not need the value that was there may be the first to write there.
 */
void simt_access_atomic(const void *pointer, unsigned bytes, bool in_block, bool needs_value, uintptr_t pc);

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

#endif
