/**
 * @file shadow.h
 * @brief The fast path of the race check for one access to a 4-byte word, which handles the common cases in a few
 *        instructions.
 *
 * A cell holds the last write, or the last of several atomics, and the set of threads that have read the word since
 * then, at one epoch. All these accesses are to the same bytes. A cell loses no information as long as all earlier
 * accesses are ordered before those that it holds. Epochs make this easy to check: an access before the launch, or
 * before the last barrier of this block, is ordered before the current access. All other cases take the slow path (see
 * shadow.c).
 */
#ifndef SIMT_SHADOW_H
#define SIMT_SHADOW_H

#include "device_memory.h"
#include "order/happens_before.h"
#include "order/thread_sets.h"
#include "order/stream_work.h"

/**
 * The program counters of accesses. The low bits of a program counter usually select its slot. A slot becomes
 * PC_SLOT_COLLISION if no free slot can be found for a later program counter with the same low bits.
 */
extern uintptr_t simt_pc_slots[1 << PC_SLOT_BITS];
enum { PC_SLOT_COLLISION = 1 };
/** Returns the slot of a program counter, and assigns a slot first if it has none. */
uint32_t simt_pc_slot_find_or_add_slow_path(uintptr_t pc);
/** Returns the program counter in a slot, or 0 if several program counters share the slot. */
uintptr_t simt_pc_in_slot(uint32_t slot);

static inline uint32_t pc_slot_find_or_add(uintptr_t pc)
{
    const uint32_t slot = pc & PC_SLOT_MASK;

    return SIMT_UNLIKELY(simt_pc_slots[slot] != pc) ? simt_pc_slot_find_or_add_slow_path(pc) : slot;
}

/** An access to a word. Fields that are constants in the caller are constants in all inlined functions. */
struct word_access {
    uintptr_t address; /**< address of the word */
    uintptr_t pc;
    uint32_t pc_slot;              /**< slot of `pc` in simt_pc_slots */
    uint8_t byte_mask;             /**< mask of the word's four bytes */
    uint8_t atomic_size_and_flags; /**< for an atomic or a volatile load: enum atomic_size_and_flags */
    bool reads_old_value;          /**< the atomic does more than store a value */
    bool may_include_padding;      /**< the access has 8 bytes or more, some of which may be padding */
    bool is_deallocation;          /**< the word is freed, which is checked like a store */
    enum access_type access_type;
    enum memory_space space;
};

/**
 * Check and record an access to a word of global memory of which, as the cell says, some bytes have a mark (struct
 * word_marks): first against the marks, then for races.
 */
void simt_check_load_of_marked_global_word(struct shadow_cell *cell, struct word_access access);
void simt_check_store_to_marked_global_word(struct shadow_cell *cell, struct word_access access);
/**
 * Records a load by __ldg of bytes that the launch must not write, either before or after the load. Ends the launch if
 * it has already written these bytes.
 */
void simt_check_and_record_ldg_load(const struct shadow_cell *cell, struct word_access access);
/** Checks an access on the slow path: returns if there is no race and ends the launch if there is one. */
void simt_check_load_races_slow_path(struct shadow_cell *cell, struct word_access access);
void simt_check_store_races_slow_path(struct shadow_cell *cell, struct word_access access, uint32_t word_state);
/** Returns whether the unwritten bytes of a word in shared memory may be padding. */
bool simt_shared_word_may_be_padding(const struct shadow_cell *cell, uintptr_t address);
/**
 * Records, as a suspected fault, a read or an atomic of shared bytes that no thread has written. If a thread writes
 * them before a barrier, the race is reported instead. Ends the launch if the word belongs to no variable and there is
 * no suspected fault yet.
 */
void simt_record_suspected_uninitialised_shared_read(const struct shadow_cell *cell, uint32_t byte_mask,
                                                     enum access_type access, uintptr_t pc);

/**
 * The number of deferred races. A load that races only with atomics is allowed if the thread then updates the same
 * bytes with compare-and-swap, because compare-and-swap loops begin with such a load. Until then the race is recorded
 * but not reported.
 */
extern unsigned simt_num_deferred_races;
/** Reports the running thread's deferred race, if there is one; called when the thread reaches a barrier or returns. */
void simt_deferred_race_report(void);
/** Drops the deferred races of all threads, unreported; called when a launch begins. */
void simt_deferred_races_clear(void);
/** Drops the running thread's deferred race if a compare-and-swap is about to update the bytes that it loaded last. */
void simt_deferred_race_drop_for_cas(struct shadow_cell *cell, enum memory_space space, unsigned bytes);

/**
 * Determines how the last launch, which ran at epochs `first_epoch` to `last_epoch`, used the bytes of a word:
 * use_byte_masks[use] is a mask of bytes. Returns false if the launch used none of them.
 */
bool simt_find_launch_uses_of_word(const struct shadow_cell *cell, uint32_t first_epoch, uint32_t last_epoch,
                                   uint8_t use_byte_masks[NUM_USES]);
/** Reports that `num_bytes` bytes that a thread of the last launch used at `pc` race with work of another stream. */
void simt_fault_stream_race(uint3 thread, uintptr_t pc, int num_bytes, const struct work_race *race);
/**
 * Does the same for the use of a word by the last launch, which began at `launch_begin_epoch`: finds the thread, the
 * program counter and the bytes in the word's cell.
 */
void simt_fault_stream_race_in_cell(const struct shadow_cell *cell, uint32_t launch_begin_epoch,
                                    const struct work_race *race);

/** Returns whether the block has written a shared word. */
static inline bool shadow_shared_word_is_written(const struct shadow_cell *cell)
{
    return cell->write_epoch >= simt_current_order.order_within_block.block_begin_epoch &&
           (cell->packed_write >> SHARED_WORD_WRITTEN_SHIFT & 0xf) != 0;
}
/**
 * Marks a shared word that an asynchronous copy of the running thread is about to write; `refills` says whether the
 * block had written the word before. No thread may access the word
 * until shadow_end_async_copy() is called.
 */
static inline void shadow_begin_async_copy(struct shadow_cell *cell, bool refills)
{
    cell->read_epoch = EPOCH_NEVER_REACHED;
    cell->packed_readers = refills ? READERS_ASYNC_COPY_IS_REFILLING : READERS_ASYNC_COPY_IS_WRITING;
}
static inline void shadow_end_async_copy(struct shadow_cell *cell)
{
    cell->read_epoch = 0;
    cell->packed_readers = 0;
}
/**
 * Does the same as shadow_end_async_copy() for a copy that a thread other than the issuing thread may have waited for.
 * The word then counts as written now, so that a barrier between the issue and the wait does not order the write before
 * later accesses.
 */
static inline void shadow_end_async_copy_as_write(struct shadow_cell *cell)
{
    shadow_end_async_copy(cell);
    cell->write_epoch = simt_current_order.epoch;
}

/**
 * The last volatile load of each thread that was recorded. Repeating this load at the same epoch, without a write in
 * between, need not be recorded.
 */
struct last_recorded_volatile_load {
    const struct shadow_cell *cell;
    uint32_t epoch, write_epoch, packed_write;
    uint8_t atomic_size_and_flags, byte_mask;
};
extern struct last_recorded_volatile_load simt_last_recorded_volatile_loads[BLOCK_THREADS];

enum { WRITES_TEXT = 400 };
/**
 * Writes which bytes the running launch has written in or near the polled bytes at an address, in the same array in
 * shared (`shared`) or global memory, with advice on a poll at `poll_pc` that waits in vain. Writes "" if the poll
 * itself is an atomic that has updated the word, which hides earlier writes.
 */
void simt_describe_writes_near_poll(uintptr_t address, bool shared, uintptr_t poll_pc, char text[WRITES_TEXT]);

/** The last volatile load or atomic of each thread: its epoch, and that of the write whose value it has read. */
struct last_poll {
    uint32_t epoch, write_epoch, packed_write;
    bool is_atomic;
    uintptr_t pc;
};
extern struct last_poll simt_last_polls[BLOCK_THREADS];

/**
 * Returns an address in global memory that a lane of the running warp has lately accessed by the call that returns to
 * `pc` and for which `matches` is true; returns 0 if there is none. Set by the launch.
 */
extern uintptr_t (*simt_find_unreplayed_access_hook)(uintptr_t pc,
                                                     bool (*matches)(uintptr_t address, uintptr_t reference),
                                                     uintptr_t reference);
/**
 * Writes advice on a race within a block if one of the block's mbarriers may have had too many arrivals, otherwise
 * returns false. Set when the first mbarrier is initialised.
 */
extern bool (*simt_advise_on_race_due_to_mbarrier_hook)(char *text, size_t size);
/**
 * Writes why the last wait of a thread of the running block does not cover its copy to a word in shared memory, with
 * advice, or "" if the thread has not waited for groups of copies. Set when the first such copy is issued.
 */
extern void (*simt_describe_group_wait_hook)(unsigned thread, const struct shadow_cell *cell, char *text, size_t size);

static inline __attribute__((always_inline)) bool shadow_repeats_volatile_load(const struct shadow_cell *cell,
                                                                               struct word_access access)
{
    const struct last_recorded_volatile_load *last =
        &simt_last_recorded_volatile_loads[simt_current_order.packed_thread >> WRITE_THREAD_SHIFT];

    return last->cell == cell && last->epoch == simt_current_order.epoch && last->write_epoch == cell->write_epoch &&
           last->packed_write == cell->packed_write && last->atomic_size_and_flags == access.atomic_size_and_flags &&
           last->byte_mask == access.byte_mask;
}

/** Returns the epoch below which the accesses by all threads are ordered before the current access. */
static inline uint32_t shadow_epoch_below_which_ordered(enum memory_space space)
{
    return space == SPACE_SHARED ? simt_current_order.order_within_block.barrier_ordered_before_epoch
                                 : simt_current_order.ordered_before_epoch;
}

/**
 * Returns whether an access at `epoch` was made by this block and is ordered before the current access by a barrier.
 */
static inline bool shadow_is_ordered_by_block_barrier(uint32_t epoch)
{
    return epoch - simt_current_order.turn_begin_epoch < simt_current_order.num_barrier_ordered_epochs;
}

/**
 * Returns whether an access is ordered before the current access by a barrier of this block, or was made by the running
 * thread.
 */
static inline bool shadow_is_ordered_by_barrier_or_program_order(uint32_t epoch, uint32_t packed_write)
{
    return shadow_is_ordered_by_block_barrier(epoch) ||
           (epoch >= simt_current_order.turn_begin_epoch &&
            ((packed_write ^ simt_current_order.packed_thread) >> WRITE_THREAD_SHIFT) == 0);
}

/** Checks for races and records a load of bytes that are known to be readable. */
static inline __attribute__((always_inline)) void shadow_check_load_races(struct shadow_cell *cell,
                                                                          struct word_access access)
{
    const uint32_t horizon = shadow_epoch_below_which_ordered(access.space);
    const uint32_t who = simt_current_order.packed_thread >> (WRITE_THREAD_SHIFT - READERS_SET_SHIFT) |
                         (uint32_t)access.byte_mask << READERS_BYTES_SHIFT;

    if (access.access_type == ACCESS_VOLATILE_LOAD && shadow_repeats_volatile_load(cell, access))
        return;
    if (access.access_type == ACCESS_LOAD &&
        (SIMT_LIKELY(cell->write_epoch < horizon) ||
         shadow_is_ordered_by_barrier_or_program_order(cell->write_epoch, cell->packed_write))) {
        if (SIMT_LIKELY(cell->read_epoch < horizon) ||
            (cell->packed_readers < READERS_RACE_WITH_LATER_WRITES &&
             !(cell->packed_readers >> READERS_BYTES_SHIFT & 0xf & ~(uint32_t)access.byte_mask) &&
             shadow_is_ordered_by_block_barrier(cell->read_epoch))) {
            cell->read_epoch = simt_current_order.epoch;
            cell->packed_readers = who | access.pc_slot;
            return;
        }
        /*
         * The word has already been read at this epoch: add the thread to the set of readers, unless it is the only
         * one.
         */
        if (cell->read_epoch == simt_current_order.epoch) {
            const uint32_t set = cell->packed_readers >> READERS_SET_SHIFT;

            if ((cell->packed_readers ^ who) >> READERS_BYTES_SHIFT == 0)
                return;
            if (set < NUM_THREAD_SETS && ((cell->packed_readers ^ who) >> READERS_BYTES_SHIFT & 0xf) == 0) {
                const uint32_t next = thread_set_cached_number_with_or_0(set, simt_current_order.packed_thread >>
                                                                                  WRITE_THREAD_SHIFT);

                if (SIMT_LIKELY(next)) {
                    cell->packed_readers = next << READERS_SET_SHIFT |
                                           (cell->packed_readers & (PC_SLOT_MASK | 0xf << READERS_BYTES_SHIFT));
                    return;
                }
            }
        } else if (cell->packed_readers >> 30 == READERS_RACE_WITH_LATER_WRITES >> 30 &&
                   cell->read_epoch >= simt_current_order.launch_begin_epoch &&
                   !(~cell->packed_readers >> READERS_BYTES_SHIFT & access.byte_mask)) {
            return;
        }
    }
    simt_check_load_races_slow_path(cell, access);
}

/** Checks and records a load. */
static inline __attribute__((always_inline)) void shadow_check_load(struct shadow_cell *cell, struct word_access access)
{
    const uint32_t written = (uint32_t)access.byte_mask << SHARED_WORD_WRITTEN_SHIFT;

    if (access.space == SPACE_GLOBAL) {
        if (SIMT_UNLIKELY(cell->packed_write & (uint32_t)access.byte_mask << GLOBAL_WORD_MARKED_SHIFT)) {
            simt_check_load_of_marked_global_word(cell, access);
            return;
        }
    } else if (SIMT_UNLIKELY((cell->packed_write & written) != written ||
                             cell->write_epoch < simt_current_order.order_within_block.block_begin_epoch)) {
        if (!access.may_include_padding || !simt_shared_word_may_be_padding(cell, access.address))
            simt_record_suspected_uninitialised_shared_read(cell, access.byte_mask, ACCESS_LOAD, access.pc);
    }
    shadow_check_load_races(cell, access);
}

/** Returns whether the write in a cell can be dropped once this store or atomic is recorded. */
static inline __attribute__((always_inline)) bool shadow_replaces_write(uint32_t write_epoch, uint32_t packed_write,
                                                                        struct word_access access)
{
    if (access.access_type == ACCESS_ATOMIC)
        return (packed_write & WRITE_IS_ATOMIC) &&
               (packed_write >> WRITE_BYTES_SHIFT & 0xf) == access.atomic_size_and_flags &&
               access.atomic_size_and_flags < ATOMIC_SAW_OTHER_BLOCK &&
               write_epoch >= simt_current_order.turn_begin_epoch;
    return !(packed_write & WRITE_IS_ATOMIC) &&
           !(packed_write >> WRITE_BYTES_SHIFT & 0xf & ~(uint32_t)access.byte_mask) &&
           shadow_is_ordered_by_barrier_or_program_order(write_epoch, packed_write);
}

/**
 * Returns the number of the set in a cell's `packed_readers` with the running thread added, or 0 if that set is not
 * cached. It is cached if shadow_readers_allow_fast_path() has returned true for an atomic.
 */
static inline uint32_t shadow_cached_number_of_readers_with_running_thread_or_0(uint32_t packed_readers)
{
    const uint32_t set = packed_readers >> READERS_SET_SHIFT & (NUM_THREAD_SETS - 1);
    const uint32_t me = simt_current_order.packed_thread >> WRITE_THREAD_SHIFT;

    return set == me ? set : thread_set_cached_number_with_or_0(set, me);
}

/** Returns whether thread 0 is running and is the only one in the set `packed_readers`; its number is 0. */
static inline bool shadow_only_reader_is_running_thread_0(uint32_t packed_readers)
{
    return simt_current_order.packed_thread == 0 && (packed_readers >> READERS_SET_SHIFT & (NUM_THREAD_SETS - 1)) == 0;
}

/**
 * Returns whether the readers in a cell allow the fast path for a store or an atomic: whether they are ordered before
 * the current access by a barrier, or the running thread is the only one. For an atomic, returns whether the cell has
 * only threads that did atomics, to which the running thread can be added.
 */
static inline __attribute__((always_inline)) bool shadow_readers_allow_fast_path(const struct shadow_cell *cell,
                                                                                 uint32_t horizon,
                                                                                 struct word_access access)
{
    if (SIMT_LIKELY(cell->read_epoch < horizon))
        return access.access_type != ACCESS_ATOMIC || !(access.atomic_size_and_flags & ATOMIC_VOLATILE_STORE);
    if (access.access_type == ACCESS_ATOMIC) {
        if (cell->packed_readers < READERS_ARE_ATOMIC_UPDATERS || cell->read_epoch == UINT32_MAX ||
            access.atomic_size_and_flags >= ATOMIC_SAW_OTHER_BLOCK)
            return false;
        if ((cell->packed_readers >> READERS_BYTES_SHIFT & 0xf) == 0)
            return true;
        return cell->read_epoch == simt_current_order.epoch &&
               (cell->packed_readers >> READERS_BYTES_SHIFT & 0xf) == access.byte_mask &&
               (shadow_cached_number_of_readers_with_running_thread_or_0(cell->packed_readers) != 0 ||
                shadow_only_reader_is_running_thread_0(cell->packed_readers));
    }
    return cell->packed_readers < READERS_RACE_WITH_LATER_WRITES &&
           (shadow_is_ordered_by_block_barrier(cell->read_epoch) ||
            (cell->read_epoch >= simt_current_order.turn_begin_epoch &&
             cell->packed_readers >> READERS_SET_SHIFT == simt_current_order.packed_thread >> WRITE_THREAD_SHIFT));
}

/** Adds the running thread to the threads that did atomics in a cell, after shadow_readers_allow_fast_path(). */
static inline __attribute__((always_inline)) void shadow_add_atomic_updater(struct shadow_cell *cell, uint32_t horizon,
                                                                            struct word_access access)
{
    uint32_t set = simt_current_order.packed_thread >> WRITE_THREAD_SHIFT;

    if (cell->read_epoch >= horizon) {
        if ((cell->packed_readers >> READERS_BYTES_SHIFT & 0xf) == 0)
            return;
        set = shadow_cached_number_of_readers_with_running_thread_or_0(cell->packed_readers);
    }
    cell->read_epoch = simt_current_order.epoch;
    cell->packed_readers = READERS_ARE_ATOMIC_UPDATERS | set << READERS_SET_SHIFT |
                           (uint32_t)access.byte_mask << READERS_BYTES_SHIFT | access.pc_slot;
}

/** Checks and records a store or an atomic of bytes that may be written. `word_state` becomes the word's state. */
static inline __attribute__((always_inline)) void shadow_check_store_races(struct shadow_cell *cell,
                                                                           struct word_access access,
                                                                           uint32_t word_state)
{
    const uint32_t horizon = shadow_epoch_below_which_ordered(access.space);

    if (!shadow_readers_allow_fast_path(cell, horizon, access) ||
        (SIMT_UNLIKELY(cell->write_epoch >= horizon) &&
         !shadow_replaces_write(cell->write_epoch, cell->packed_write, access))) {
        simt_check_store_races_slow_path(cell, access, word_state);
        return;
    }
    if (access.access_type == ACCESS_ATOMIC)
        shadow_add_atomic_updater(cell, horizon, access);
    cell->write_epoch = simt_current_order.epoch;
    cell->packed_write = simt_current_order.packed_thread | word_state | access.pc_slot;
    if (access.access_type == ACCESS_ATOMIC)
        cell->packed_write |= WRITE_IS_ATOMIC | (uint32_t)access.atomic_size_and_flags << WRITE_BYTES_SHIFT;
    else
        cell->packed_write |= (uint32_t)access.byte_mask << WRITE_BYTES_SHIFT;
}

/** Checks and records a store or an atomic. */
static inline __attribute__((always_inline)) void shadow_check_store(struct shadow_cell *cell,
                                                                     struct word_access access)
{
    uint32_t word_state = cell->packed_write & WORD_STATE_MASK;

    if (access.space == SPACE_GLOBAL) {
        if (SIMT_UNLIKELY(word_state & (uint32_t)access.byte_mask << GLOBAL_WORD_MARKED_SHIFT)) {
            simt_check_store_to_marked_global_word(cell, access);
            return;
        }
    } else {
        if (cell->write_epoch < simt_current_order.order_within_block.block_begin_epoch)
            word_state = 0;
        if (access.reads_old_value && SIMT_UNLIKELY(access.byte_mask & ~(word_state >> SHARED_WORD_WRITTEN_SHIFT)))
            simt_record_suspected_uninitialised_shared_read(cell, access.byte_mask, ACCESS_ATOMIC, access.pc);
        word_state |= (uint32_t)access.byte_mask << SHARED_WORD_WRITTEN_SHIFT;
    }
    shadow_check_store_races(cell, access, word_state);
}

#endif
