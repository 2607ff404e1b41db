/** @file shadow_cell.h  What a cell of the shadow says of the word that it is for, in 16 bytes. */
#ifndef SIMT_SHADOW_CELL_H
#define SIMT_SHADOW_CELL_H

#include <stdint.h>

/**
 * What is remembered of a 4-byte word: the last write and who has read since. Where that is too little, see history.h.
 */
struct shadow_cell {
    uint32_t write_epoch;
    uint32_t write; /**< thread, bytes, atomic, state, site */
    uint32_t read_epoch;
    uint32_t read; /**< kind, set of threads, bytes, site */
};

enum {
    CELL_THREAD_SHIFT = 22,
    CELL_BYTES_SHIFT = 18,
    CELL_BYTES = 0xf << CELL_BYTES_SHIFT,

    /* State: global memory's bytes that may be off limits or unwritten, shared memory's that have been written. Of an
       atomic, the place of "bytes" says which kind: enum atomic_kind. */
    CELL_ATOMIC = 1 << 17,
    CELL_STATE_SHIFT = 13,
    CELL_STATE = 0xf << CELL_STATE_SHIFT,

    /* A read: all threads of the set read these bytes at its epoch. */
    READ_SET_SHIFT = 17,
    READ_SET_BITS = 13,
    READ_BYTES_SHIFT = 13,

    SITE_BITS = 13,
    CELL_SITE = (1 << SITE_BITS) - 1,
};

#define EPOCH_NEVER UINT32_MAX

/* Kinds of a read. */
#define READ_LOST    (1u << 30) /**< whoever writes these bytes before the launch ends does so in a race */
#define READ_HISTORY (1u << 31) /**< there is a history of the word; its latest epoch is the cell's */
#define READ_AUTHORS \
    (3u << 30) /**< no reads: all threads of the set have updated it by atomics; no bytes: READ_LOST as well */
#define READ_UNOWNED (3u << 30) /**< at an epoch that never comes: no variable has the word, see shared_variables.c */
#define READ_COPIED  (READ_UNOWNED | 1) /**< at that epoch: an asynchronous copy writes the word, see copies.c */

/** Which bytes of a word an atomic has, of how many; how far it reaches; whether it is a volatile store. */
enum atomic_kind {
    ATOMIC_4,
    ATOMIC_8,
    ATOMIC_LOW_2,
    ATOMIC_HIGH_2,
    ATOMIC_OF_BLOCKS = 4, /**< it has seen one of another block */
    ATOMIC_IN_BLOCK = 8,
    ATOMIC_STORE = 0x40,
    ATOMIC_1 = 0x80,
    ATOMIC_BYTES = 0x83
};

enum shadow_space { SPACE_GLOBAL, SPACE_SHARED };
enum shadow_access { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_VOLATILE_LOAD };

#endif
