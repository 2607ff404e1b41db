/**
 * @file kernel_calls.h
 * @brief Functions in calls/ that are used by other files in calls/, by the scheduler, by the grid and by a launch.
 */
#ifndef SIMT_KERNEL_CALLS_H
#define SIMT_KERNEL_CALLS_H

#include "lanes/lanes.h"
#include "memory/shadow.h"

/**
 * Checks and records an atomic of the running lane on `bytes` bytes, in which each element of `element_bytes` bytes is
 * updated atomically; the atomic's scope is the lane's block (if `in_block`) or all threads. Does nothing outside
 * kernels. An atomic that does not need the old value may be the first write to its address.
 */
void simt_check_and_record_atomic(const void *pointer, unsigned bytes, unsigned element_bytes, bool in_block,
                                  bool reads_old_value, uintptr_t pc);
/** Records that the running lane is about to read a value, possibly as a poll, with a volatile load or an atomic. */
void simt_record_possible_poll(const void *address, bool is_atomic, uintptr_t pc);

/** Describes the word that the launch's last poll read, as simt_describe_position_in_array() does. */
void simt_describe_last_polled_word(char text[ARRAY_TEXT_SIZE]);
/** Writes what the launch has written near the last polled word, with advice (see simt_describe_writes_near_poll()). */
void simt_describe_writes_near_last_poll(char *text);
/** Returns whether the polls in vain read several addresses in turn, as in a search of a table. */
bool simt_polls_read_several_addresses(void);

/** Checks and records the running lane's load of a matrix row, which is 16 bytes of shared memory. */
void simt_check_and_record_ldmatrix_row(const void *row, uintptr_t pc);

/** Records an access that has already been checked as an event of the running lane. */
void simt_record_access_event(uintptr_t pc, const void *address, enum event_kind kind, unsigned bytes, uint64_t offset);

/**
 * Records an EVENT_BULK_COPY of `bytes` bytes from `packed_source_offset`, an offset in global memory as events record
 * it, but only while memory is watched.
 */
void simt_record_bulk_copy_event_if_watched(uintptr_t pc, uint64_t packed_source_offset, uint64_t bytes,
                                            uint64_t shared_offset);
/**
 * Records an EVENT_MBARRIER for the mbarrier at an offset in shared memory, but only while memory is watched. `operand`
 * and `phase` are the arguments of the observers' watched_lane_uses_mbarrier.
 */
void simt_record_mbarrier_event_if_watched(uintptr_t pc, enum mbarrier_operation operation, uint64_t shared_offset,
                                           uint64_t operand, uint64_t phase);

/** Ends the launch because of an access beyond the dynamic shared memory that the launch requested. */
_Noreturn void simt_fault_beyond_dynamic_shared(size_t offset, unsigned access_bytes, bool store, uintptr_t pc);

/** Drops the copies of a block that has ended, because no thread can wait for them any more. */
void simt_block_discard_async_copies(struct block *block);

/**
 * Takes the copies in flight from the running thread and returns the index of the first, or 0 if there is none. The two
 * functions below complete or drop all these copies. After each copy they set *first_remaining_copy to the first
 * remaining copy, because completing a copy may end the launch.
 */
uint32_t simt_async_copy_list_detach_from_lane(void);
void simt_async_copy_list_complete(uint32_t *first_remaining_copy);
void simt_async_copy_list_discard(uint32_t *first_remaining_copy);

/**
 * Times out all mbarrier waits that have a time limit; called when no lane can run. Returns whether there were any such
 * waits.
 */
bool simt_mbarrier_expire_timed_waits(struct block *block);
/** Describes which phase a lane waits for at an mbarrier, and what the phase lacks. */
void simt_mbarrier_describe_wait(const struct lane *lane, char *text, size_t size);
/** Returns whether the phase that a lane waits for has all its arrivals, but not all of its announced bytes. */
bool simt_mbarrier_wait_lacks_only_bytes(const struct lane *lane);
/**
 * Returns whether a lane waits at an mbarrier at which several threads have arrived and ended at least two phases that
 * the lane has not waited for, and describes such a wait.
 */
bool simt_mbarrier_wait_is_overtaken_by_several(const struct lane *lane);
void simt_mbarrier_describe_overtaken_wait(const struct lane *lane, char *text, size_t size);
/** Advises on the mbarrier waits of these lanes, none of which can ever end. */
void simt_mbarrier_advise_on_waits(const struct lane *const *lanes, unsigned num_lanes, char *text, size_t size);
/** Checks, after all threads of a block have returned, that no copy to its shared memory is in flight. */
void simt_mbarriers_check_no_copies_in_flight(const struct block *block);
/** Frees the mbarriers of a block. */
void simt_mbarriers_free(struct block *block);

/**
 * Exempts the running lane's last load from race reports if that load read the word at `cas_pointer`, which a
 * compare-and-swap now updates.
 */
void simt_exempt_load_before_cas_from_races(const void *cas_pointer, unsigned bytes);

/**
 * Ends the launch if `address` comes from an out-of-bounds index; the rewriter's mark has displaced such an address by
 * SIMT_OUT_OF_BOUNDS_DISPLACEMENT_BYTES.
 */
void simt_fault_if_from_out_of_bounds_index(uintptr_t address, unsigned bytes, enum access_type access, uintptr_t pc);

/**
 * Completes every collective of `warp` whose lanes have all arrived. If `also_of_active_lanes`, because no lane can
 * continue, also completes the collectives that apply only to the active lanes.
 */
void simt_collectives_complete_arrived(struct warp *warp, bool also_of_active_lanes);

/**
 * Reports that the host has called one of CUDA's device functions, `name`, with the line of the call, and ends the
 * program.
 */
_Noreturn void simt_reject_host_call(const char *name, uintptr_t call_site);

enum { BARRIER_NAME_SIZE = 32 };
/** Writes the name of the call at which a lane waits for its block or for the grid. */
void simt_awaited_barrier_name(const struct lane *lane, char name[BARRIER_NAME_SIZE]);
/** Returns the name of the collective at which a lane of the warp waits. */
const char *simt_awaited_collective_name(const struct warp *warp, unsigned lane);
/** Returns the lanes that a waiting lane still waits for. */
lane_mask simt_collective_missing_lanes(const struct warp *warp, unsigned lane);
/** Describes what a waiting lane waits for, and where the first of the `missing` lanes is instead. */
void simt_collective_describe_wait(const struct block *block, const struct warp *warp, unsigned lane, lane_mask missing,
                                   char *text, size_t size);

/** Checks that all threads are at the same barrier and, unless it is the grid barrier, opens it. */
void simt_block_barrier_check_and_open(struct block *block);
/**
 * Drops a suspected fault that follows a barrier that some threads missed, as
 * simt_fault_dismiss_if_after_call_in_source() does. Does nothing if this barrier has opened before, because in a loop,
 * code that follows the barrier in the source may run before it.
 */
void simt_fault_dismiss_if_after_missed_barrier(const struct block *block, uintptr_t barrier_site);
/** Makes all threads of a block that is waiting at a barrier runnable. */
void simt_block_barrier_release_threads(struct block *block);

/**
 * Install and remove the handlers that turn signals raised by a kernel's instructions into faults, and the timer that
 * ends a loop without events after about the time that `event_limit` events take. The first function returns false on
 * failure.
 */
bool simt_signal_handlers_and_timer_install(uint64_t event_limit);
void simt_signal_handlers_and_timer_remove(void);

/** Maximum size in bytes of the heap that malloc() uses in kernels. The heap is in device memory. */
extern size_t simt_heap_limit_bytes;
/** True once a kernel has allocated memory. */
extern bool simt_heap_is_used;

#endif
