/**
 * @file device_memory.c
 * @brief Device memory: one reserved arena, its shadow, and the functions that hand it out and copy to and from it.
 *
 * Allocations are 256-byte aligned with at least 256 bytes off limits behind each. Offsets in the arena depend on
 * nothing but the order of calls, so what is counted from them is the same in every run.
 */
#include "device_memory.h"

#include "base/available_memory.h"
#include "errors.h"
#include "fault.h"
#include "graphs.h"
#include "host_accesses.h"
#include "program_image.h"
#include "simt.h"
#include "source_lines.h"
#include "streams.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256, RED_ZONE = 256, HUGE_PAGE = 2 * 1024 * 1024, WORTH_ASKING = 16 * 1024 * 1024 };

/** Who may touch it besides kernels, and by which call it is freed. */
enum owner { OWNER_DEVICE, OWNER_PINNED, OWNER_MANAGED, OWNER_KERNEL };

struct allocation {
    size_t offset;
    size_t bytes;
    size_t slot;      /**< bytes with padding and red zone */
    enum owner owner; /**< if the host may, it has pages of its own, which are never closed */
    bool is_new;      /**< that some bytes are unwritten is not in the shadow yet */
    bool host_checks; /**< the host may copy bytes that nobody has written: it looks for them */
};

/** What is known of 32 bytes of the arena, a bit for each. */
struct marks {
    uint32_t off_limits;
    uint32_t unwritten;
};

static struct arena {
    unsigned char *base;
    size_t reserved;
    size_t committed;
    size_t top; /**< end of the last slot there has ever been */
    size_t in_use;
    size_t available; /**< of the machine's memory, when the first byte was asked for */
    struct shadow_cell *shadow;
    struct marks *marks;
    uint32_t *read_only; /**< of 32 bytes, those that this launch has read as what it never writes */
    size_t read_only_low, read_only_high;
    struct allocation *allocation; /**< by offset */
    size_t count;
    size_t capacity;
    bool any_new;        /**< some allocation is */
    size_t count_shared; /**< with the host */
} arena;

/** The last few slots that were freed: nobody gets them yet, so that who still uses them is seen. */
enum { RESTING = 32, RESTING_BYTES = 4 * 1024 * 1024 };
static struct resting {
    struct allocation slot[RESTING]; /**< the oldest first */
    unsigned count;
    size_t bytes;
} resting;

struct memory_ranges simt_memory;

/* --- bytes that kernels may touch --------------------------------------------------------------------------------- */

/*
 * The marks say what a byte is. A state bit in the shadow says that the marks are to be looked at: it is set wherever a
 * mark is, from the next launch on, and here and there where none is any more. Processes that are forked share the
 * marks, but not the shadow.
 */

/** Of one kind, at `kind` in struct marks: those of the bytes in [from, to). */
static void set_marks(size_t kind, size_t from, size_t to, bool value)
{
    for (size_t at = from, next; at < to; at = next) {
        uint32_t *const marks = (uint32_t *)((unsigned char *)&arena.marks[at / 32] + kind);
        uint32_t bits = UINT32_MAX;

        next = (at / 32 + 1) * 32 < to ? (at / 32 + 1) * 32 : to;
        if (next - at < 32)
            bits = ((1u << (next - at)) - 1) << at % 32;
        *marks = value ? *marks | bits : *marks & ~bits;
    }
}

static void set_off_limits(size_t from, size_t to, bool value)
{
    set_marks(offsetof(struct marks, off_limits), from, to, value);
}

static bool is_hosts_too(enum owner owner)
{
    return owner == OWNER_PINNED || owner == OWNER_MANAGED;
}

static void set_unwritten(size_t from, size_t to, bool value)
{
    set_marks(offsetof(struct marks, unwritten), from, to, value);
}

static uint32_t marks_of(size_t at)
{
    return arena.marks[at / 32].off_limits | arena.marks[at / 32].unwritten;
}

/** Makes accesses to [from, to) look at the marks, where there are any. */
static void show_marks(size_t from, size_t to)
{
    for (size_t word = from / 4; word < (to + 3) / 4; word++) {
        const uint32_t marks = marks_of(word * 4);

        if (marks == 0)
            word |= 7;
        else
            arena.shadow[word].write |= (marks >> word * 4 % 32 & 0xf) << CELL_STATE_SHIFT;
    }
}

static void forbid_bytes(size_t from, size_t to)
{
    set_off_limits(from, to, true);
    show_marks(from, to);
}

/** Of a slot that is handed out again. */
static void allow_bytes(size_t from, size_t bytes)
{
    set_off_limits(from, from + bytes, false);
    memset(&arena.shadow[from / 4], 0, (bytes + 3) / 4 * sizeof *arena.shadow);
}

void simt_forbid(const void *begin, size_t bytes)
{
    const size_t offset = (uintptr_t)begin - (uintptr_t)arena.base;

    if (arena.base && offset < arena.top && bytes <= arena.top - offset)
        forbid_bytes(offset, offset + bytes);
}

struct word_marks simt_arena_marks(uintptr_t address)
{
    const size_t at = address - (uintptr_t)arena.base;
    const struct marks *marks = &arena.marks[at / 32];

    return (struct word_marks){.off_limits = marks->off_limits >> at % 32 & 0xf,
                               .unwritten = marks->unwritten >> at % 32 & 0xf,
                               .read_only = arena.read_only[at / 32] >> at % 32 & 0xf};
}

void simt_arena_read_only(uintptr_t address, uint32_t bytes)
{
    const size_t at = address - (uintptr_t)arena.base;

    arena.read_only[at / 32] |= bytes << at % 32;
    arena.shadow[at / 4].write |= bytes << CELL_STATE_SHIFT;
    if (arena.read_only_high == 0 || at < arena.read_only_low)
        arena.read_only_low = at;
    if (at + 4 > arena.read_only_high)
        arena.read_only_high = at + 4;
}

/** A launch begins. */
static void forget_read_only(void)
{
    if (arena.read_only_high > 0)
        memset(&arena.read_only[arena.read_only_low / 32], 0,
               (arena.read_only_high / 32 - arena.read_only_low / 32 + 1) * sizeof *arena.read_only);
    arena.read_only_high = 0;
}

void simt_arena_written(uintptr_t address, uint32_t bytes)
{
    const size_t at = address - (uintptr_t)arena.base;

    arena.marks[at / 32].unwritten &= ~(bytes << at % 32);
}

bool simt_arena_may_be_padding(uintptr_t address)
{
    const size_t at = address - (uintptr_t)arena.base;
    const uint32_t unwritten = arena.marks[at / 32].unwritten >> (at & ~(size_t)7) % 32;

    return at % 8 == 4 ? (unwritten & 0xff) != 0xff : (unwritten & 0xf) != 0xf;
}

void simt_arena_forget_ticks(void)
{
    for (size_t i = 0; i < arena.top / 4; i++) {
        arena.shadow[i].write &= CELL_STATE;
        arena.shadow[i].write_tick = arena.shadow[i].read_tick = arena.shadow[i].read = 0;
    }
}

/* --- the arena ---------------------------------------------------------------------------------------------------- */

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
    arena.base = (unsigned char *)(((uintptr_t)planes[0].base + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    arena.shadow = (struct shadow_cell *)planes[1].base;
    arena.marks = (struct marks *)planes[2].base;
    arena.read_only = (uint32_t *)planes[3].base;
    arena.reserved = bytes;
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
    arena.reserved += bytes;
    return true;
}

/** Doubles the reservation until it holds `top` bytes. */
static bool grow(size_t top)
{
    while (top > arena.reserved)
        if (!extend(arena.reserved))
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
    const size_t word_bytes = 4 + sizeof *arena.shadow + sizeof *arena.marks / 8;
    const size_t more = end - arena.committed;

    if (arena.available == 0)
        arena.available = available_memory();
    return end / 4 <= arena.available / word_bytes &&
           (more < WORTH_ASKING || more / 4 <= available_memory() / word_bytes);
}

static bool commit(size_t top)
{
    const size_t end = (top + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);

    if (end <= arena.committed)
        return true;
    if (!can_have(end) || !grow(end))
        return false;
    arena.committed = end;
    return true;
}

bool simt_arena_reserve(void)
{
    const size_t most = (size_t)256 << 20;
    const size_t least = (size_t)16 << 20;

    if (arena.base)
        return true;
    for (size_t bytes = most; bytes >= least; bytes /= 2) {
        if (reserve(bytes)) {
            if (!commit(RED_ZONE) || !simt_program_find())
                return false;
            forbid_bytes(0, RED_ZONE);
            arena.top = RED_ZONE;
            return true;
        }
    }
    return false;
}

/** How often the host has asked for the arena to be kept open, and how many bytes of it are, so far. */
static struct {
    unsigned depth;
    size_t bytes;
} kept_open;

/**
 * Lets this process touch a stretch of the arena, or no longer: the host may not, except to do what it asks the runtime
 * for. While the arena is kept open, what was opened stays so.
 */
static bool let(size_t from, size_t to, bool touch)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = from / page * page;

    if (kept_open.depth > 0) {
        if (!touch || to <= kept_open.bytes)
            return true;
        kept_open.bytes = arena.committed;
        return mprotect(arena.base, arena.committed, PROT_READ | PROT_WRITE) == 0;
    }
    return mprotect(arena.base + first, to - first, touch ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

bool simt_arena_open(void)
{
    for (size_t i = 0; arena.any_new && i < arena.count; i++) {
        struct allocation *allocation = &arena.allocation[i];

        if (allocation->is_new)
            show_marks(allocation->offset, allocation->offset + allocation->bytes);
        allocation->is_new = false;
    }
    arena.any_new = false;
    forget_read_only();
    simt_memory.arena = (uintptr_t)arena.base;
    simt_memory.arena_bytes = arena.top;
    simt_memory.arena_shadow = arena.shadow;
    return let(0, arena.committed, true);
}

void simt_arena_close(void)
{
    simt_memory.arena_bytes = 0;
    let(0, arena.committed, false);
    for (size_t i = 0; arena.count_shared > 0 && i < arena.count; i++) {
        const struct allocation *allocation = &arena.allocation[i];

        if (is_hosts_too(allocation->owner))
            let(allocation->offset, allocation->offset + allocation->bytes, true);
    }
}

void simt_keep_open(bool open)
{
    if (open) {
        kept_open.depth++;
        return;
    }
    if (--kept_open.depth == 0 && kept_open.bytes > 0)
        simt_arena_close();
    kept_open.bytes = kept_open.depth == 0 ? 0 : kept_open.bytes;
}

void simt_memory_watch(bool watched)
{
    simt_memory.watched = watched;
    simt_memory.arena_quick = watched ? 0 : simt_memory.arena_bytes;
    simt_memory.shared_quick = watched ? 0 : simt_memory.shared_bytes;
}

static size_t physical_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/** Index of the first allocation that ends after `offset`. */
static size_t find_after(size_t offset)
{
    size_t low = 0;
    size_t high = arena.count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (arena.allocation[middle].offset + arena.allocation[middle].bytes <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Lets go of the slots that have rested longest, until there is room for one of so many bytes. */
static void end_rest(size_t bytes)
{
    unsigned gone = 0;

    while (gone < resting.count && (resting.count - gone == RESTING || resting.bytes + bytes > RESTING_BYTES))
        resting.bytes -= resting.slot[gone++].slot;
    resting.count -= gone;
    memmove(resting.slot, resting.slot + gone, resting.count * sizeof *resting.slot);
}

static void rest(struct allocation gone)
{
    if (gone.slot > RESTING_BYTES)
        return;
    end_rest(gone.slot);
    resting.slot[resting.count++] = gone;
    resting.bytes += gone.slot;
}

/** The first offset from `offset` on with `slot` bytes behind it of which none rests. */
static size_t past_resting(size_t offset, size_t slot)
{
    for (unsigned i = 0; i < resting.count; i++) {
        const struct allocation *freed = &resting.slot[i];

        if (freed->offset < offset + slot && offset < freed->offset + freed->slot) {
            offset = freed->offset + freed->slot;
            i = UINT_MAX; /* once more from the first */
        }
    }
    return offset;
}

/** The first gap of `slot` bytes: the index to insert at, and the offset. */
static size_t find_gap(size_t slot, size_t *offset)
{
    size_t end = RED_ZONE;

    for (size_t i = 0; i < arena.count; i++) {
        end = past_resting(end, slot);
        if (arena.allocation[i].offset >= end + slot) {
            *offset = end;
            return i;
        }
        end = arena.allocation[i].offset + arena.allocation[i].slot;
    }
    *offset = past_resting(end, slot);
    return arena.count;
}

static bool make_room_for_one(void)
{
    if (arena.count < arena.capacity)
        return true;
    const size_t capacity = arena.capacity ? 2 * arena.capacity : 64;
    struct allocation *larger = realloc(arena.allocation, capacity * sizeof *larger);

    if (!larger)
        return false;
    arena.allocation = larger;
    arena.capacity = capacity;
    return true;
}

/** Memory for kernels. What is the host's too shares no page with any that is not. */
static cudaError_t allocate(void **pointer, size_t bytes, enum owner owner)
{
    const bool shared = is_hosts_too(owner);
    const size_t unit = shared ? (size_t)sysconf(_SC_PAGESIZE) : ALIGNMENT;
    size_t begin;

    if (!pointer)
        return simt_set_error(cudaErrorInvalidValue);
    *pointer = NULL;
    if (simt_sticky_error() != cudaSuccess)
        return simt_sticky_error();
    if (owner != OWNER_KERNEL && (!simt_arena_reserve() || !simt_host_watch(simt_arena_describe)))
        return simt_fault_no_room();
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > physical_memory() || arena.in_use > physical_memory() - bytes || !make_room_for_one())
        return simt_set_error(cudaErrorMemoryAllocation);
    const size_t slot = ((bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + RED_ZONE + unit - 1) / unit * unit;
    const size_t index = find_gap(slot + unit - ALIGNMENT, &begin);
    const size_t offset = (begin + unit - 1) / unit * unit;

    if (!commit(offset + slot) || !let(offset, offset + bytes, true))
        return simt_set_error(cudaErrorMemoryAllocation);
    /* What a kernel finds here is nothing to rely on: NaNs and -1. */
    memset(arena.base + offset, 0xff, bytes);
    if (owner == OWNER_DEVICE)
        let(offset, offset + bytes, false);
    if (offset < arena.top)
        allow_bytes(offset, bytes);
    set_unwritten(offset, offset + bytes, !shared); /* the host may have written it, which nobody sees */
    forbid_bytes(begin, offset);
    forbid_bytes(offset + bytes, offset + slot);
    if (offset + slot > arena.top)
        arena.top = offset + slot;
    memmove(&arena.allocation[index + 1], &arena.allocation[index], (arena.count - index) * sizeof *arena.allocation);
    arena.allocation[index] = (struct allocation){
        .offset = offset, .bytes = bytes, .slot = slot, .owner = owner, .is_new = true};
    arena.any_new = true;
    arena.count++;
    arena.count_shared += shared;
    simt_streams_share_host = arena.count_shared > 0;
    arena.in_use += bytes;
    *pointer = arena.base + offset;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, OWNER_DEVICE);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, OWNER_PINNED);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    if (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return simt_set_error(cudaErrorNotSupported);
    return allocate(pointer, bytes, OWNER_PINNED);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return simt_set_error(cudaErrorInvalidValue);
    return allocate(pointer, bytes, OWNER_MANAGED);
}

/** The allocation that begins at a pointer; NULL if none does. */
static const struct allocation *allocation_at(const void *pointer)
{
    const size_t offset = (uintptr_t)pointer - (uintptr_t)arena.base;
    const size_t index = arena.base ? find_after(offset) : 0;

    return index < arena.count && arena.allocation[index].offset == offset ? &arena.allocation[index] : NULL;
}

static void release(const struct allocation *allocation)
{
    const size_t index = (size_t)(allocation - arena.allocation);
    const struct allocation gone = *allocation;

    if (is_hosts_too(gone.owner))
        let(gone.offset, gone.offset + gone.bytes, false);
    forbid_bytes(gone.offset, gone.offset + gone.bytes);
    rest(gone);
    arena.in_use -= gone.bytes;
    arena.count--;
    arena.count_shared -= is_hosts_too(gone.owner);
    simt_streams_share_host = arena.count_shared > 0;
    memmove(&arena.allocation[index], &arena.allocation[index + 1], (arena.count - index) * sizeof *arena.allocation);
    if (gone.bytes >= HUGE_PAGE) {
        const size_t first = (gone.offset + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
        const size_t last = (gone.offset + gone.bytes) & ~(size_t)(HUGE_PAGE - 1);

        if (first < last)
            madvise(arena.base + first, last - first, MADV_DONTNEED);
    }
}

cudaError_t cudaFree(void *pointer)
{
    if (pointer)
        simt_host_waits_for_all();
    return cudaFreeAsync(pointer, NULL);
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    return simt_captures(stream) ? simt_set_error(cudaErrorNotSupported) : cudaMalloc(pointer, bytes);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    if (simt_captures(stream))
        return simt_set_error(cudaErrorNotSupported);
    if (!pointer)
        return cudaSuccess;
    const struct allocation *const allocation = allocation_at(pointer);

    if (!allocation || allocation->owner == OWNER_PINNED || allocation->owner == OWNER_KERNEL)
        return simt_set_error(cudaErrorInvalidValue);
    release(allocation);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *pointer)
{
    const struct allocation *const allocation = allocation_at(pointer);

    if (!pointer)
        return cudaSuccess;
    if (!allocation || allocation->owner != OWNER_PINNED)
        return simt_set_error(cudaErrorInvalidValue);
    simt_host_waits_for_all();
    release(allocation);
    return cudaSuccess;
}

/* --- the kernels' heap -------------------------------------------------------------------------------------------- */

size_t simt_heap_limit = (size_t)8 << 20;
static size_t heap_used;

/** What an allocation takes of the heap. */
static size_t heap_bytes(size_t bytes)
{
    return (bytes + 15) / 16 * 16 + 16;
}

void *simt_heap_allocate(size_t bytes)
{
    void *memory = NULL;

    if (bytes > simt_heap_limit || heap_used + heap_bytes(bytes) > simt_heap_limit)
        return NULL;
    if (allocate(&memory, bytes, OWNER_KERNEL) != cudaSuccess || !memory)
        return NULL;
    const size_t offset = (uintptr_t)memory - (uintptr_t)arena.base;

    heap_used += heap_bytes(bytes);
    show_marks(offset, offset + bytes);
    simt_memory.arena_bytes = arena.top;
    simt_memory_watch(simt_memory.watched);
    return memory;
}

bool simt_heap_release(const void *memory)
{
    const struct allocation *const allocation = allocation_at(memory);

    if (!allocation || allocation->owner != OWNER_KERNEL)
        return false;
    heap_used -= heap_bytes(allocation->bytes);
    release(allocation);
    return true;
}

size_t simt_arena_words(void)
{
    return arena.top / 4;
}

int32_t simt_arena_allocation(uint64_t offset, uint64_t *inside)
{
    const size_t index = find_after(offset);

    *inside = index < arena.count ? offset - arena.allocation[index].offset : offset;
    return (int32_t)index;
}

/** Which allocation an offset is in, before or behind, in a few words. */
static void describe(size_t offset, char *text, size_t size)
{
    const size_t after = find_after(offset);
    const struct allocation *behind = after > 0 ? &arena.allocation[after - 1] : NULL;
    const struct allocation *ahead = after < arena.count ? &arena.allocation[after] : NULL;

    if (ahead && offset >= ahead->offset)
        snprintf(text, size, "%zu bytes into an allocation of %zu bytes", offset - ahead->offset, ahead->bytes);
    else if (behind && offset == behind->offset + behind->bytes)
        snprintf(text, size, "right behind the end of an allocation of %zu bytes", behind->bytes);
    else if (behind && offset < behind->offset + behind->slot)
        snprintf(text, size, "%zu bytes behind the end of an allocation of %zu bytes",
                 offset - behind->offset - behind->bytes, behind->bytes);
    else if (ahead && ahead->offset - offset <= RED_ZONE)
        snprintf(text, size, "%zu bytes before an allocation of %zu bytes", ahead->offset - offset, ahead->bytes);
    else
        snprintf(text, size, "in memory that has been freed");
}

bool simt_arena_describe(uintptr_t address, char *text, size_t size)
{
    const size_t offset = address - (uintptr_t)arena.base;

    if (!arena.base || offset >= arena.reserved)
        return false;
    describe(offset, text, size);
    return true;
}

_Noreturn void simt_fault_forbidden(uintptr_t address, uint32_t bytes, bool write, uintptr_t pc)
{
    const int count = __builtin_popcount(bytes);
    const size_t offset = address - (uintptr_t)arena.base + (size_t)__builtin_ctz(bytes);
    const size_t index = find_after(offset);
    const bool inside = index < arena.count && offset >= arena.allocation[index].offset;
    char where[160];

    describe(offset, where, sizeof where);
    simt_fault_here(cudaErrorIllegalAddress, pc, "out-of-bounds global access", "%s %d byte%s %s%s",
                    write ? "writes" : "reads", count, count == 1 ? "" : "s", inside ? "in a guard band, " : "", where);
}

/* --- copies ------------------------------------------------------------------------------------------------------- */

static bool is_device(const void *pointer)
{
    return arena.base && (uintptr_t)pointer - (uintptr_t)arena.base < arena.reserved;
}

static bool in_program_data(const void *pointer, size_t bytes)
{
    const uintptr_t address = (uintptr_t)pointer;

    if (!simt_program_find())
        return false;
    return (address >= simt_program.data_low && address < simt_program.data_high &&
            bytes <= simt_program.data_high - address) ||
           (address >= simt_program.constant_low && address < simt_program.constant_high &&
            bytes <= simt_program.constant_high - address);
}

/**
 * Whether all the bytes lie in one live allocation that is not a kernel's own, or where __device__ and __constant__
 * variables are.
 */
static bool device_range(const void *pointer, size_t bytes)
{
    if (!is_device(pointer))
        return in_program_data(pointer, bytes);
    const size_t offset = (uintptr_t)pointer - (uintptr_t)arena.base;
    const size_t index = find_after(offset);

    return index < arena.count && offset >= arena.allocation[index].offset &&
           arena.allocation[index].owner != OWNER_KERNEL &&
           bytes <= arena.allocation[index].offset + arena.allocation[index].bytes - offset;
}

/** Of a pointer into an allocation. */
static enum owner owner_of(const void *pointer)
{
    return arena.allocation[find_after((uintptr_t)pointer - (uintptr_t)arena.base)].owner;
}

/** Whether a pointer is to memory that the host and kernels have together: pinned or managed. */
static bool is_shared(const void *pointer)
{
    return is_device(pointer) && device_range(pointer, 1) && is_hosts_too(owner_of(pointer));
}

static bool host_range(const void *pointer)
{
    return pointer && (is_shared(pointer) || (!is_device(pointer) && !in_program_data(pointer, 1)));
}

static cudaError_t check_copy(const void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    bool right = false;

    switch (kind) {
    case cudaMemcpyHostToHost:
        right = host_range(to) && host_range(from);
        break;
    case cudaMemcpyHostToDevice:
        right = device_range(to, bytes) && host_range(from);
        break;
    case cudaMemcpyDeviceToHost:
        right = host_range(to) && device_range(from, bytes);
        break;
    case cudaMemcpyDeviceToDevice:
        right = device_range(to, bytes) && device_range(from, bytes);
        break;
    case cudaMemcpyDefault:
        right = (is_device(to) ? device_range(to, bytes) : host_range(to)) &&
                (is_device(from) ? device_range(from, bytes) : host_range(from));
        break;
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
    return right ? cudaSuccess : cudaErrorInvalidValue;
}

static void note_use(enum use use, const void *pointer, size_t bytes)
{
    if (!host_range(pointer) && simt_streams_several)
        simt_work_uses(use, (uintptr_t)pointer, bytes);
    else if (is_shared(pointer))
        simt_work_uses_host(use, (uintptr_t)pointer, bytes);
}

/**
 * A copy, or a memset if `from` is NULL, as work of a stream: refused if the stream is none, or it races with other
 * work.
 */
static cudaError_t give_work(const char *name, void *to, const void *from, size_t bytes, cudaStream_t stream,
                             uintptr_t caller)
{
    const cudaError_t error = simt_work_begin(stream, name, caller);

    if (error != cudaSuccess)
        return error;
    if (from)
        note_use(USE_READ, from, bytes);
    note_use(USE_WRITE, to, bytes);
    return simt_work_check();
}

static size_t offset_of(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)arena.base;
}

/** Lets the runtime touch what a pointer points to, if that is in the arena; or no longer. */
static bool let_range(const void *pointer, size_t bytes, bool touch)
{
    return !is_device(pointer) || is_shared(pointer) || let(offset_of(pointer), offset_of(pointer) + bytes, touch);
}

/** What was written is so in the copy, and what was not is not. */
static void copy_marks(size_t to, size_t from, size_t bytes)
{
    const bool backwards = to > from;

    for (size_t i = 0; i < bytes; i++) {
        const size_t at = backwards ? bytes - 1 - i : i;

        set_unwritten(to + at, to + at + 1, arena.marks[(from + at) / 32].unwritten >> (from + at) % 32 & 1);
    }
    arena.allocation[find_after(to)].is_new = arena.any_new = true;
}

/** How many of the bytes nobody has written, padding apart; *first is where the first of them is. */
static size_t count_unwritten(size_t from, size_t bytes, size_t *first)
{
    size_t count = 0;

    for (size_t at = from; at < from + bytes; at++) {
        const uint32_t unwritten = arena.marks[at / 32].unwritten;

        if (unwritten == 0)
            at |= 31;
        else if ((unwritten >> at % 32 & 1) && !simt_arena_may_be_padding((uintptr_t)arena.base + at / 4 * 4))
            *first = count++ ? *first : at;
    }
    return count;
}

/** Copies bytes that may be, and what is known of them. */
static cudaError_t copy(void *to, const void *from, size_t bytes)
{
    size_t unused;

    if (!let_range(to, bytes, true) || !let_range(from, bytes, true))
        return simt_set_error(cudaErrorMemoryAllocation);
    memmove(to, from, bytes);
    let_range(to, bytes, false);
    let_range(from, bytes, false);
    if (is_device(to) && is_device(from) && count_unwritten(offset_of(from), bytes, &unused) > 0)
        copy_marks(offset_of(to), offset_of(from), bytes);
    else if (is_device(to))
        set_unwritten(offset_of(to), offset_of(to) + bytes, false);
    return cudaSuccess;
}

/** A copy to the host of what nobody has written; an error with its line. */
static cudaError_t check_written(const void *from, size_t bytes, uintptr_t pc)
{
    size_t first = 0;
    const size_t count = arena.allocation[find_after(offset_of(from))].host_checks
                             ? 0
                             : count_unwritten(offset_of(from), bytes, &first);
    char place[PLACE_TEXT];
    char where[160];

    if (count == 0)
        return cudaSuccess;
    describe(first, where, sizeof where);
    simt_source_line(pc, place);
    simt_fault_launch(cudaErrorInvalidValue,
                      "%s: uninitialised global memory: copies %zu byte%s to the host that nobody has written, from %s",
                      place, count, count == 1 ? "" : "s", where);
    return cudaErrorInvalidValue;
}

static cudaError_t copy_in_stream(const char *name, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                  cudaStream_t stream, uintptr_t caller)
{
    if (simt_sticky_error() != cudaSuccess)
        return simt_sticky_error();
    if (bytes == 0)
        return cudaSuccess;
    cudaError_t error = check_copy(to, from, bytes, kind);

    if (error == cudaSuccess && is_device(from) && host_range(to))
        error = check_written(from, bytes, caller);
    if (error != cudaSuccess)
        return simt_set_error(error);
    error = give_work(name, to, from, bytes, stream, caller);
    return error == cudaSuccess ? copy(to, from, bytes) : error;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const cudaError_t error = copy_in_stream("cudaMemcpy", to, from, bytes, kind, NULL, SIMT_CALLER());

    if (error == cudaSuccess && bytes > 0 && (host_range(to) || host_range(from)))
        simt_host_waits(NULL);
    return error;
}

/** A copy that a graph does, or a memset. */
struct graph_copy {
    void *to;
    const void *from;
    size_t bytes;
    enum cudaMemcpyKind kind;
    int value;
    uintptr_t caller;
};

static cudaError_t copy_again(const void *operand, cudaStream_t stream)
{
    const struct graph_copy *copy = operand;

    return copy_in_stream("cudaMemcpyAsync", copy->to, copy->from, copy->bytes, copy->kind, stream, copy->caller);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (simt_captures(stream)) {
        const struct graph_copy copy = {to, from, bytes, kind, 0, SIMT_CALLER()};

        return simt_capture(stream, copy_again, &copy, sizeof copy, NULL, 0);
    }
    const cudaError_t error = copy_in_stream("cudaMemcpyAsync", to, from, bytes, kind, stream, SIMT_CALLER());

    /* What is not pinned is copied to where it is before this returns, or from where it is to where it waits. */
    if (error == cudaSuccess && bytes > 0 && host_range(to) && (!is_shared(to) || host_range(from)))
        simt_host_waits(stream);
    return error;
}

static cudaError_t set_in_stream(const char *name, void *to, int value, size_t bytes, cudaStream_t stream,
                                 uintptr_t caller)
{
    if (simt_sticky_error() != cudaSuccess)
        return simt_sticky_error();
    if (bytes == 0)
        return cudaSuccess;
    if (!device_range(to, bytes))
        return simt_set_error(cudaErrorInvalidValue);
    const cudaError_t error = give_work(name, to, NULL, bytes, stream, caller);

    if (error != cudaSuccess)
        return error;
    if (!let_range(to, bytes, true))
        return simt_set_error(cudaErrorMemoryAllocation);
    memset(to, value, bytes);
    let_range(to, bytes, false);
    if (is_device(to))
        set_unwritten(offset_of(to), offset_of(to) + bytes, false);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return set_in_stream("cudaMemset", to, value, bytes, NULL, SIMT_CALLER());
}

void simt_unwrite(const void *begin, size_t bytes)
{
    if (bytes == 0 || !is_device(begin) || !device_range(begin, bytes))
        return;
    struct allocation *allocation = &arena.allocation[find_after(offset_of(begin))];

    set_unwritten(offset_of(begin), offset_of(begin) + bytes, true);
    allocation->host_checks = allocation->is_new = arena.any_new = true;
}

static cudaError_t set_again(const void *operand, cudaStream_t stream)
{
    const struct graph_copy *set = operand;

    return set_in_stream("cudaMemsetAsync", set->to, set->value, set->bytes, stream, set->caller);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    if (simt_captures(stream)) {
        const struct graph_copy set = {.to = to, .value = value, .bytes = bytes, .caller = SIMT_CALLER()};

        return simt_capture(stream, set_again, &set, sizeof set, NULL, 0);
    }
    return set_in_stream("cudaMemsetAsync", to, value, bytes, stream, SIMT_CALLER());
}

cudaError_t simt_copy_symbol(void *to, const void *from, const void *symbol, size_t symbol_bytes, size_t offset,
                             size_t bytes)
{
    if (simt_sticky_error() != cudaSuccess)
        return simt_sticky_error();
    if (!symbol || !to || !from)
        return simt_set_error(cudaErrorInvalidValue);
    if (offset > symbol_bytes || bytes > symbol_bytes - offset)
        return simt_set_error(cudaErrorInvalidValue);
    if ((is_device(to) && !device_range(to, bytes)) || (is_device(from) && !device_range(from, bytes)))
        return simt_set_error(cudaErrorInvalidValue);
    cudaError_t error = give_work("a copy of a symbol", to, from, bytes, NULL, SIMT_CALLER());

    if (error != cudaSuccess)
        return error;
    error = copy(to, from, bytes);
    simt_host_waits(NULL);
    return error;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    if (!attributes)
        return simt_set_error(cudaErrorInvalidValue);
    *attributes = (struct cudaPointerAttributes){.device = -2};
    if (is_device(pointer) ? device_range(pointer, 1) : in_program_data(pointer, 1))
        *attributes = (struct cudaPointerAttributes){cudaMemoryTypeDevice, 0, (void *)pointer, NULL};
    if (is_shared(pointer)) {
        attributes->type = owner_of(pointer) == OWNER_PINNED ? cudaMemoryTypeHost : cudaMemoryTypeManaged;
        attributes->hostPointer = (void *)pointer;
    }
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *pointer, unsigned flags)
{
    if (!device || flags != 0 || !is_shared(pointer) || owner_of(pointer) != OWNER_PINNED)
        return simt_set_error(cudaErrorInvalidValue);
    *device = pointer;
    return cudaSuccess;
}

/** It is where it is needed. */
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    (void)stream;
    if (!is_shared(pointer) || owner_of(pointer) != OWNER_MANAGED || !device_range(pointer, bytes))
        return simt_set_error(cudaErrorInvalidValue);
    return device == 0 || device == cudaCpuDeviceId ? cudaSuccess : simt_set_error(cudaErrorInvalidDevice);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    if (!available || !total)
        return simt_set_error(cudaErrorInvalidValue);
    *total = physical_memory();
    *available = *total > arena.in_use ? *total - arena.in_use : 0;
    return cudaSuccess;
}
