/**
 * @file protection.c
 * @brief Opens the pages of device memory to kernels, and to the runtime while it executes a call from the host, and
 *        closes them to host code.
 */
#include "arena.h"
#include "machine/program_image.h"
#include "simt.h"

#include <sys/mman.h>
#include <unistd.h>

/**
 * The number of nested calls that keep the arena open, and the number of its bytes that are open because of them.
 */
static struct {
    unsigned depth;
    size_t bytes;
} kept_open;

bool simt_arena_set_access(size_t begin, size_t bytes, bool allow)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), end = begin + bytes;
    const size_t first = begin / page * page;

    if (kept_open.depth > 0) {
        if (!allow || end <= kept_open.bytes)
            return true;
        kept_open.bytes = simt_arena.committed_bytes;
        return mprotect(simt_arena.base, simt_arena.committed_bytes, PROT_READ | PROT_WRITE) == 0;
    }
    return mprotect(simt_arena.base + first, end - first, allow ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

bool simt_arena_allow_access_and_update_bounds(void)
{
    for (size_t i = 0; simt_arena.any_marks_not_in_shadow && i < simt_arena.num_allocations; i++) {
        struct allocation *allocation = &simt_arena.allocations[i];

        if (allocation->marks_not_in_shadow)
            simt_copy_marks_to_shadow(allocation->offset, allocation->bytes);
        allocation->marks_not_in_shadow = false;
    }
    simt_arena.any_marks_not_in_shadow = false;
    simt_clear_ldg_reads();
    simt_memory.arena_begin = (uintptr_t)simt_arena.base;
    simt_memory.arena_bytes = simt_arena.used_end;
    simt_memory.arena_shadow = simt_arena.shadow;
    return simt_arena_set_access(0, simt_arena.committed_bytes, true);
}

void simt_arena_forbid_access(void)
{
    simt_memory.arena_bytes = 0;
    simt_arena_set_access(0, simt_arena.committed_bytes, false);
    for (size_t i = 0; simt_arena.num_host_accessible_allocations > 0 && i < simt_arena.num_allocations; i++) {
        const struct allocation *allocation = &simt_arena.allocations[i];

        if (is_pinned_or_managed_type(allocation->memory_type))
            simt_arena_set_access(allocation->offset, allocation->bytes, true);
    }
}

void simt_allow_host_access(bool allow)
{
    if (allow) {
        kept_open.depth++;
        return;
    }
    if (--kept_open.depth == 0 && kept_open.bytes > 0)
        simt_arena_forbid_access();
    kept_open.bytes = kept_open.depth == 0 ? 0 : kept_open.bytes;
}

bool simt_host_may_access_all_device_memory(void)
{
    return kept_open.depth > 0;
}
