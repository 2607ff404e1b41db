/** @file pages.h  Memory straight from the system: zeroed, committed when touched. */
#ifndef SIMT_PAGES_H
#define SIMT_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

/** NULL when there is none. */
static inline void *pages_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/** `memory` may be NULL. */
static inline void pages_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

#endif
