/** @file pages.h  Memory straight from the system: zeroed, committed when touched. */
#ifndef SIMT_PAGES_H
#define SIMT_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/** NULL when there is none. */
static inline void *pages_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

#define LARGE_PAGE ((size_t)2 << 20)

/**
 * A multiple of LARGE_PAGE, in large pages where the system has them: few faults, and all the memory at the first
 * touch.
 */
static inline void *pages_map_large(size_t bytes)
{
    unsigned char *const memory = (unsigned char *)pages_map(bytes + LARGE_PAGE);
    const size_t before = -(uintptr_t)memory % LARGE_PAGE;

    if (!memory)
        return NULL;
    if (before > 0)
        munmap(memory, before);
    munmap(memory + before + bytes, LARGE_PAGE - before);
    madvise(memory + before, bytes, MADV_HUGEPAGE);
    return memory + before;
}

/** `memory` may be NULL. */
static inline void pages_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

#endif
