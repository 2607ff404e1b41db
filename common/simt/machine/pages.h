/** @file pages.h  Memory mapped directly from the system: zeroed, and committed when it is first accessed. */
#ifndef SIMT_PAGES_H
#define SIMT_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/** Maps zeroed memory. Returns NULL if out of memory. */
static inline void *pages_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/**
 * Maps `bytes`, a multiple of HUGE_PAGE_BYTES, in huge pages if the system supports them. Huge pages cause fewer page
 * faults, but the first access to a huge page commits the entire page. Returns NULL if out of memory.
 */
static inline void *pages_map_huge(size_t bytes)
{
    unsigned char *const memory = (unsigned char *)pages_map(bytes + HUGE_PAGE_BYTES);
    const size_t before = -(uintptr_t)memory % HUGE_PAGE_BYTES;

    if (!memory)
        return NULL;
    if (before > 0)
        munmap(memory, before);
    munmap(memory + before + bytes, HUGE_PAGE_BYTES - before);
    madvise(memory + before, bytes, MADV_HUGEPAGE);
    return memory + before;
}

/** Unmaps memory; `memory` may be NULL. */
static inline void pages_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

#endif
