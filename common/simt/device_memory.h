/** @file device_memory.h  Global memory and its shadow, and the ranges of memory that the running kernel has. */
#ifndef SIMT_DEVICE_MEMORY_H
#define SIMT_DEVICE_MEMORY_H

#include "shadow_cell.h"

#include <stdbool.h>
#include <stddef.h>

/** What an access is looked up in, in a cache line or two. Outside kernels every range is empty. */
struct memory_ranges {
    uintptr_t arena;    /**< global memory handed out so far */
    size_t arena_quick; /**< its bytes; 0 while accesses are watched, so that they go the slow way */
    struct shadow_cell *arena_shadow;
    uintptr_t shared; /**< static shared memory and the dynamic array behind or before it: one TLS block */
    size_t shared_quick;
    struct shadow_cell *shared_shadow;
    size_t shared_end;    /**< offset of the first byte of the dynamic array that this launch did not ask for */
    size_t shared_resume; /**< offset of the first byte behind that array */
    size_t arena_bytes;
    size_t shared_bytes;
    struct shadow_cell *data_shadow; /**< of the program's own data */
    bool watched;
};

extern struct memory_ranges simt_memory;

/** Whether observers are told of each lane's accesses, or only of the warps' requests. */
void simt_memory_watch(bool watched);

/** Reserves the arena and its shadow, once. */
bool simt_arena_reserve(void);
/** Puts the arena as it is now into the ranges. */
void simt_arena_open(void);

/** Forgets who touched what, but not what is off limits. */
void simt_arena_forget_ticks(void);

/** The number of the allocation that holds an offset in the arena, in the order of addresses, and the offset in it. */
int32_t simt_arena_allocation(uint64_t offset, uint64_t *inside);

/** Ends the launch: the running thread touches `bytes` of a word, as a shadow cell has them, that are off limits. */
_Noreturn void simt_fault_forbidden(uintptr_t address, uint32_t bytes, bool write, uintptr_t pc);

#endif
