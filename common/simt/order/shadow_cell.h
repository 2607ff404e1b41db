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
    uint32_t packed_write; /**< thread, bytes, atomic, state, site */
    uint32_t read_epoch;
    uint32_t packed_readers; /**< kind, set of threads, bytes, site */
};

enum {
    CELL_THREAD_SHIFT = 22,
    CELL_BYTES_SHIFT = 18,
    CELL_BYTES = 0xf << CELL_BYTES_SHIFT,

    /*
     * State bits, one per byte: in global memory, bytes that may be inaccessible or unwritten; in shared memory, bytes
     * that have been written. For an atomic, CELL_BYTES holds its enum atomic_kind.
     */
    CELL_ATOMIC = 1 << 17,
    CELL_STATE_SHIFT = 13,
    CELL_STATE = 0xf << CELL_STATE_SHIFT,

    /* A read: all threads of the set read these bytes at the read's epoch. */
    READ_SET_SHIFT = 17,
    READ_SET_BITS = 13,
    READ_BYTES_SHIFT = 13,

    SITE_BITS = 13,
    CELL_SITE = (1 << SITE_BITS) - 1,
};

/** An epoch that is never reached, because start_epochs() in grid.c restarts from 0 long before this value. */
#define EPOCH_NEVER UINT32_MAX

/* Kinds of a read. */

/** Every later write to these bytes in this launch is a race. */
#define READ_ALWAYS_RACES (1u << 30)
/** The word has a history; the latest epoch in it is the cell's. */
#define READ_HISTORY (1u << 31)
/** No reads: the set's threads have updated the word atomically; if no bytes are set, also READ_ALWAYS_RACES. */
#define READ_ATOMIC_THREADS (3u << 30)
/** At EPOCH_NEVER: the word belongs to no variable (shared_variables.c). */
#define READ_OUTSIDE_VARIABLES (3u << 30)
/** At EPOCH_NEVER: an asynchronous copy writes the word (copies.c). */
#define READ_COPY_IN_FLIGHT (READ_OUTSIDE_VARIABLES | 1)

/**
 * Kind of an atomic: its size, the bytes of the word that it accesses, its scope, and whether it is a volatile store.
 */
enum atomic_kind {
    ATOMIC_4,
    ATOMIC_8,
    ATOMIC_LOW_2,
    ATOMIC_HIGH_2,
    ATOMIC_CROSS_BLOCK = 4, /**< it has seen an atomic of another block */
    ATOMIC_BLOCK_SCOPE = 8,
    ATOMIC_STORE = 0x40,
    ATOMIC_1 = 0x80,
    ATOMIC_BYTES = 0x83
};

enum shadow_space { SPACE_GLOBAL, SPACE_SHARED };
enum shadow_access { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_VOLATILE_LOAD };

/** Returns the verb phrase with which messages describe an access. */
static inline const char *simt_access_verb(enum shadow_access access)
{
    static const char *const verbs[] = {"reads", "writes", "updates atomically", "reads"};

    return verbs[access];
}

#endif
