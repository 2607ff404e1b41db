/** @file shadow_cell.h  What is remembered of a 4-byte word of global or shared memory: the last write and the last read. */
#ifndef SIMT_SHADOW_CELL_H
#define SIMT_SHADOW_CELL_H

#include <stdint.h>

struct shadow_cell {
    uint32_t write_tick;
    uint32_t write; /**< thread, bytes, atomic, state, site */
    uint32_t read_tick;
    uint32_t read; /**< thread, bytes, who else read, site */
};

enum {
    CELL_THREAD_SHIFT = 22,
    CELL_BYTES_SHIFT = 18,
    CELL_BYTES = 0xf << CELL_BYTES_SHIFT,

    /* A write only. State: global memory's bytes that are off limits, shared memory's that have been written. */
    CELL_ATOMIC = 1 << 17,
    CELL_STATE_SHIFT = 13,
    CELL_STATE = 0xf << CELL_STATE_SHIFT,

    /* A read only: the bytes given were read by one thread, or by several of one warp, of one block, of the grid. */
    CELL_READERS_SHIFT = 16,
    CELL_READERS = 3 << CELL_READERS_SHIFT,
    READERS_ONE = 0,
    READERS_IN_WARP = 1,
    READERS_IN_BLOCK = 2,
    READERS_IN_GRID = 3,

    SITE_BITS = 13,
    CELL_SITE = (1 << SITE_BITS) - 1,
};

enum shadow_space { SPACE_GLOBAL, SPACE_SHARED };
enum shadow_access { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC };

#endif
