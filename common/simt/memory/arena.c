/**
 * @file arena.c
 * @brief Reserves address space for device memory, its shadow and its marks, and limits how much of it may be used.
 */
#include "arena.h"

#include "base/available_memory.h"

#include <sys/mman.h>
#include <unistd.h>

enum { WORTH_ASKING = 16 * 1024 * 1024 };

struct arena simt_arena;

/** The number of mappings: the arena, its shadow, its marks, and its read-only marks. */
enum { PLANES = 4 };

static struct plane {
    uintptr_t wish; /**< preferred address, far from other mappings (including AddressSanitizer's), with room to grow */
    size_t bytes;   /**< number of bytes in the plane for 32 bytes of the arena */
    int protection;
    int sharing; /**< MAP_SHARED if forked processes share the plane */
    unsigned char *base, *end;
} planes[PLANES] = {
    {UINT64_C(5) << 42, 32, PROT_NONE, MAP_PRIVATE, NULL, NULL},
    {UINT64_C(3) << 43, 8 * sizeof(struct shadow_cell), PROT_READ | PROT_WRITE, MAP_PRIVATE, NULL, NULL},
    {UINT64_C(1) << 45, sizeof(struct marks_of_32_bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE, NULL, NULL},
    {UINT64_C(5) << 43, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE, NULL, NULL},
};

void simt_arena_share_with_forks(void)
{
    planes[0].sharing = planes[2].sharing = MAP_SHARED;
}

/** Returns the size of a plane for `bytes` of the arena. */
static size_t plane_bytes(const struct plane *plane, size_t bytes)
{
    return bytes / 32 * plane->bytes;
}

/** Maps address space, at `wish` if that range is free. Returns NULL if no address space is available. */
static unsigned char *map(const struct plane *plane, void *wish, size_t bytes)
{
    void *memory = mmap(wish, bytes, plane->protection, plane->sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE); /* far fewer page faults; no effect where the system has no huge pages */
    return memory;
}

/** Unmaps `bytes` of the arena, and `spare` more bytes, from the end of each of the first `count` planes. */
static void unmap_ends(int count, size_t bytes, size_t spare)
{
    while (count-- > 0) {
        struct plane *plane = &planes[count];

        plane->end -= plane_bytes(plane, bytes) + spare;
        munmap(plane->end, plane_bytes(plane, bytes) + spare);
    }
}

/** Reserves address space for `bytes` of memory, and for their shadow and marks. */
static bool reserve(size_t bytes)
{
    for (int i = 0; i < PLANES; i++) {
        struct plane *plane = &planes[i];

        /* The additional huge page leaves room for alignment. */
        plane->base = map(plane, (void *)plane->wish, plane_bytes(plane, bytes) + HUGE_PAGE_BYTES);
        if (!plane->base) {
            unmap_ends(i, bytes, HUGE_PAGE_BYTES);
            return false;
        }
        plane->end = plane->base + plane_bytes(plane, bytes) + HUGE_PAGE_BYTES;
    }
    simt_arena.base = (unsigned char *)(((uintptr_t)planes[0].base + HUGE_PAGE_BYTES - 1) &
                                        ~(uintptr_t)(HUGE_PAGE_BYTES - 1));
    simt_arena.shadow = (struct shadow_cell *)planes[1].base;
    simt_arena.marks_of_32_bytes = (struct marks_of_32_bytes *)planes[2].base;
    simt_arena.ldg_read_bitmap = (uint32_t *)planes[3].base;
    simt_arena.reserved_bytes = bytes;
    return true;
}

/**
 * Extends the arena by `bytes`, and every plane accordingly, in place. Returns false if another mapping is in the way.
 */
static bool extend(size_t bytes)
{
    for (int i = 0; i < PLANES; i++) {
        struct plane *plane = &planes[i];
        unsigned char *const memory = map(plane, plane->end, plane_bytes(plane, bytes));

        if (memory != plane->end) {
            if (memory)
                munmap(memory, plane_bytes(plane, bytes));
            unmap_ends(i, bytes, 0);
            return false;
        }
        plane->end += plane_bytes(plane, bytes);
    }
    simt_arena.reserved_bytes += bytes;
    return true;
}

/** Doubles the reservation until it holds `top` bytes. */
static bool grow(size_t top)
{
    while (top > simt_arena.reserved_bytes)
        if (!extend(simt_arena.reserved_bytes))
            return false;
    return true;
}

/**
 * Returns whether the machine has memory for the arena up to `end` and for its shadow. Linux would permit larger
 * mappings but would kill the process once it used them. The total is also compared with the memory that was available
 * at the first request, because memory that has been allocated but not written to still counts as available.
 */
static bool can_have(size_t end)
{
    const size_t word_bytes = 4 + sizeof *simt_arena.shadow + sizeof *simt_arena.marks_of_32_bytes / 8;
    const size_t more = end - simt_arena.committed_bytes;

    if (simt_arena.machine_available_bytes == 0)
        simt_arena.machine_available_bytes = available_host_memory_bytes();
    return end / 4 <= simt_arena.machine_available_bytes / word_bytes &&
           (more < WORTH_ASKING || more / 4 <= available_host_memory_bytes() / word_bytes);
}

bool simt_arena_commit(size_t top)
{
    const size_t end = (top + HUGE_PAGE_BYTES - 1) & ~(size_t)(HUGE_PAGE_BYTES - 1);

    if (end <= simt_arena.committed_bytes)
        return true;
    if (!can_have(end) || !grow(end))
        return false;
    simt_arena.committed_bytes = end;
    return true;
}

bool simt_arena_reserve_address_space(void)
{
    const size_t most = (size_t)256 << 20;
    const size_t least = (size_t)16 << 20;

    for (size_t bytes = most; bytes >= least; bytes /= 2) {
        if (reserve(bytes))
            return simt_arena_commit(RED_ZONE_BYTES);
    }
    return false;
}

size_t simt_physical_memory_bytes(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}
