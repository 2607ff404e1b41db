/**
 * @file arena.c
 * @brief The address space of device memory, of its shadow and of its marks, and how much of it may be used.
 */
#include "arena.h"

#include "base/available_memory.h"

#include <sys/mman.h>
#include <unistd.h>

enum { WORTH_ASKING = 16 * 1024 * 1024 };

struct arena simt_arena;

/** The arena, its shadow, its marks, and what is read only. */
enum { PLANES = 4 };

static struct plane {
    uintptr_t wish; /**< far from other mappings, AddressSanitizer's too, so that there is room to grow; any will do */
    size_t bytes;   /**< for 32 of the arena's */
    int protection;
    int sharing; /**< with processes that are forked */
    unsigned char *base, *end;
} planes[PLANES] = {
    {UINT64_C(5) << 42, 32, PROT_NONE, MAP_PRIVATE, NULL, NULL},
    {UINT64_C(3) << 43, 8 * sizeof(struct shadow_cell), PROT_READ | PROT_WRITE, MAP_PRIVATE, NULL, NULL},
    {UINT64_C(1) << 45, sizeof(struct marks), PROT_READ | PROT_WRITE, MAP_PRIVATE, NULL, NULL},
    {UINT64_C(5) << 43, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE, NULL, NULL},
};

void simt_arena_share(void)
{
    planes[0].sharing = planes[2].sharing = MAP_SHARED;
}

/** What a plane has for so many bytes of the arena. */
static size_t plane_bytes(const struct plane *plane, size_t bytes)
{
    return bytes / 32 * plane->bytes;
}

/** Address space, where wished if that is free; NULL if there is none. */
static unsigned char *map(const struct plane *plane, void *wish, size_t bytes)
{
    void *memory = mmap(wish, bytes, plane->protection, plane->sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE); /* far fewer faults; where the system has none, nothing is lost */
    return memory;
}

/** Takes `bytes` from the ends of the first `count` planes. */
static void take_back(int count, size_t bytes, size_t spare)
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

        /* A huge page to spare for alignment. */
        plane->base = map(plane, (void *)plane->wish, plane_bytes(plane, bytes) + HUGE_PAGE);
        if (!plane->base) {
            take_back(i, bytes, HUGE_PAGE);
            return false;
        }
        plane->end = plane->base + plane_bytes(plane, bytes) + HUGE_PAGE;
    }
    simt_arena.base = (unsigned char *)(((uintptr_t)planes[0].base + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    simt_arena.shadow = (struct shadow_cell *)planes[1].base;
    simt_arena.marks = (struct marks *)planes[2].base;
    simt_arena.read_only = (uint32_t *)planes[3].base;
    simt_arena.reserved = bytes;
    return true;
}

/** Reserves as much again right behind what there is; false if something else is there. */
static bool extend(size_t bytes)
{
    for (int i = 0; i < PLANES; i++) {
        struct plane *plane = &planes[i];
        unsigned char *const memory = map(plane, plane->end, plane_bytes(plane, bytes));

        if (memory != plane->end) {
            if (memory)
                munmap(memory, plane_bytes(plane, bytes));
            take_back(i, bytes, 0);
            return false;
        }
        plane->end += plane_bytes(plane, bytes);
    }
    simt_arena.reserved += bytes;
    return true;
}

/** Doubles the reservation until it holds `top` bytes. */
static bool grow(size_t top)
{
    while (top > simt_arena.reserved)
        if (!extend(simt_arena.reserved))
            return false;
    return true;
}

/**
 * Whether the machine has memory for so many bytes and their shadow. Linux would promise more, and end the process when
 * it is used. What there was at the beginning counts too: memory that has been handed out and not yet written to is
 * still available.
 */
static bool can_have(size_t end)
{
    const size_t word_bytes = 4 + sizeof *simt_arena.shadow + sizeof *simt_arena.marks / 8;
    const size_t more = end - simt_arena.committed;

    if (simt_arena.available == 0)
        simt_arena.available = available_memory();
    return end / 4 <= simt_arena.available / word_bytes &&
           (more < WORTH_ASKING || more / 4 <= available_memory() / word_bytes);
}

bool simt_arena_commit(size_t top)
{
    const size_t end = (top + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);

    if (end <= simt_arena.committed)
        return true;
    if (!can_have(end) || !grow(end))
        return false;
    simt_arena.committed = end;
    return true;
}

bool simt_arena_map(void)
{
    const size_t most = (size_t)256 << 20;
    const size_t least = (size_t)16 << 20;

    for (size_t bytes = most; bytes >= least; bytes /= 2) {
        if (reserve(bytes))
            return simt_arena_commit(RED_ZONE);
    }
    return false;
}

size_t simt_physical_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}
