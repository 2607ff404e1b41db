/**
 * @file shadow_cell.h
 * @brief The shadow cell, which records the accesses to a 4-byte word of memory in 16 bytes. Used by all checks of
 *        accesses.
 */
#ifndef SIMT_SHADOW_CELL_H
#define SIMT_SHADOW_CELL_H

#include <stdint.h>

/**
 * Accesses to a 4-byte word: the last write, and the threads that have read the word since. For accesses that do not
 * fit, see history.h.
 */
struct shadow_cell {
    uint32_t write_epoch;
    uint32_t packed_write; /**< WRITE_*, slot of the program counter; and the word's state, WORD_STATE_MASK */
    uint32_t read_epoch;
    uint32_t packed_readers; /**< READERS_*, slot of the program counter */
};

enum {
    /*
     * packed_write: the thread, and the mask of the bytes that it wrote or, for an atomic, its enum
     * atomic_size_and_flags.
     */
    WRITE_THREAD_SHIFT = 22,
    WRITE_BYTES_SHIFT = 18,
    WRITE_IS_ATOMIC = 1 << 17,

    /*
     * Also in packed_write, one bit per byte of the word: in global memory, bytes with a mark (struct word_marks),
     * which may be inaccessible or unwritten; in shared memory, bytes that have been written.
     */
    WORD_STATE_SHIFT = 13,
    WORD_STATE_MASK = 0xf << WORD_STATE_SHIFT,
    GLOBAL_WORD_MARKED_SHIFT = WORD_STATE_SHIFT,
    SHARED_WORD_WRITTEN_SHIFT = WORD_STATE_SHIFT,

    /* packed_readers: all threads of the set read these bytes at `read_epoch`. */
    READERS_SET_SHIFT = 17,
    READERS_SET_BITS = 13,
    READERS_BYTES_SHIFT = 13,

    /* The slot of the program counter of the write or of the reads: see simt_pc_in_slot(). */
    PC_SLOT_BITS = 13,
    PC_SLOT_MASK = (1 << PC_SLOT_BITS) - 1,
};

/** An epoch that is never reached, because start_epochs() in grid.c restarts from 0 long before this value. */
#define EPOCH_NEVER_REACHED UINT32_MAX

/* Values of packed_readers that are more than a set of threads that have read the word. */

/** Every later write to these bytes in this launch is a race. */
#define READERS_RACE_WITH_LATER_WRITES (1u << 30)
/** The word's readers and writes are in its history, whose latest epoch is `read_epoch`. */
#define READERS_WORD_IN_HISTORY (1u << 31)
/**
 * The set's threads have not read the word but updated it atomically; if no bytes are set, every later plain access in
 * this launch is a race.
 */
#define READERS_ARE_ATOMIC_UPDATERS (3u << 30)
/** At EPOCH_NEVER_REACHED: the word belongs to no variable (shared_variables.c). */
#define READERS_WORD_OUTSIDE_VARIABLES (3u << 30)
/** At EPOCH_NEVER_REACHED: an asynchronous copy is writing the word (copies.c). */
#define READERS_ASYNC_COPY_IS_WRITING (READERS_WORD_OUTSIDE_VARIABLES | 1)

/**
 * An atomic's size and place in the word, and flags: its scope, whether it has seen an atomic of another block, and
 * whether it is a volatile store.
 */
enum atomic_size_and_flags {
    ATOMIC_4_BYTES,
    ATOMIC_8_BYTES,
    ATOMIC_LOW_2_BYTES,
    ATOMIC_HIGH_2_BYTES,
    ATOMIC_SAW_OTHER_BLOCK = 4,
    ATOMIC_BLOCK_SCOPE = 8,
    ATOMIC_VOLATILE_STORE = 0x40,
    ATOMIC_1_BYTE = 0x80,
    ATOMIC_SIZE_MASK = 0x83
};

enum memory_space { SPACE_GLOBAL, SPACE_SHARED };
enum access_type { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_VOLATILE_LOAD };

/** Returns the verb phrase with which messages describe an access. */
static inline const char *simt_access_verb(enum access_type access)
{
    static const char *const verbs[] = {"reads", "writes", "updates atomically", "reads"};

    return verbs[access];
}

#endif
