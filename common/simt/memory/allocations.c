/**
 * @file allocations.c
 * @brief Allocates and frees memory in the arena, and finds the allocation at an address.
 *
 * Allocations are 256-byte aligned and are followed by a red zone of at least 256 bytes. Offsets in the arena depend
 * only on the order of calls, so that address-dependent counters are the same in every run.
 */
#include "arena.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "machine/host_accesses.h"
#include "machine/program_image.h"
#include "machine/array_reserve.h"
#include "order/stream_work.h"
#include "machine/host_threads.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256 };

/** The slots that were freed most recently. They are not reused yet, so that accesses after the free are detected. */
enum { QUARANTINE_SLOTS = 32, QUARANTINE_BYTES = 4 * 1024 * 1024 };
static struct quarantine {
    struct allocation slot[QUARANTINE_SLOTS]; /**< oldest first */
    unsigned count;
    size_t bytes;
} quarantine;

bool simt_arena_reserve_if_needed(void)
{
    if (simt_arena.base)
        return true;
    if (!simt_arena_reserve_address_space() || !simt_program_find_segments())
        return false;
    simt_mark_inaccessible(0, RED_ZONE_BYTES);
    simt_arena.used_end = RED_ZONE_BYTES;
    return true;
}

/** Returns the index of the first allocation that ends after `offset`. */
static size_t find_after(size_t offset)
{
    size_t low = 0;
    size_t high = simt_arena.num_allocations;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (simt_arena.allocations[middle].offset + simt_arena.allocations[middle].bytes <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Releases the oldest slots in quarantine until there is room for a slot of `bytes`. */
static void shrink_quarantine(size_t bytes)
{
    unsigned gone = 0;

    while (gone < quarantine.count &&
           (quarantine.count - gone == QUARANTINE_SLOTS || quarantine.bytes + bytes > QUARANTINE_BYTES))
        quarantine.bytes -= quarantine.slot[gone++].slot_bytes;
    quarantine.count -= gone;
    memmove(quarantine.slot, quarantine.slot + gone, quarantine.count * sizeof *quarantine.slot);
}

static void quarantine_slot(struct allocation gone)
{
    if (gone.slot_bytes > QUARANTINE_BYTES)
        return;
    shrink_quarantine(gone.slot_bytes);
    quarantine.slot[quarantine.count++] = gone;
    quarantine.bytes += gone.slot_bytes;
}

/** Returns the first offset at or after `offset` at which `slot` bytes overlap no slot in quarantine. */
static size_t past_quarantine(size_t offset, size_t slot)
{
    for (unsigned i = 0; i < quarantine.count; i++) {
        const struct allocation *freed = &quarantine.slot[i];

        if (freed->offset < offset + slot && offset < freed->offset + freed->slot_bytes) {
            offset = freed->offset + freed->slot_bytes;
            i = UINT_MAX; /* restart with the first slot */
        }
    }
    return offset;
}

/**
 * Finds the first gap of `slot` bytes. Returns the index at which to insert the allocation, and stores the gap's offset
 * in *offset.
 */
static size_t find_gap(size_t slot, size_t *offset)
{
    size_t end = RED_ZONE_BYTES;

    for (size_t i = 0; i < simt_arena.num_allocations; i++) {
        end = past_quarantine(end, slot);
        if (simt_arena.allocations[i].offset >= end + slot) {
            *offset = end;
            return i;
        }
        end = simt_arena.allocations[i].offset + simt_arena.allocations[i].slot_bytes;
    }
    *offset = past_quarantine(end, slot);
    return simt_arena.num_allocations;
}

/**
 * Allocates memory for kernels. An allocation that the host may access shares no page with one that the host may not
 * access.
 */
cudaError_t simt_arena_allocate(void **pointer, size_t bytes, enum memory_type memory_type, uintptr_t call_site)
{
    const bool shared = is_pinned_or_managed_type(memory_type);
    const size_t unit = shared ? (size_t)sysconf(_SC_PAGESIZE) : ALIGNMENT;
    size_t begin;

    SIMT_HOLD_HOST_LOCK;
    if (!pointer)
        return simt_set_last_error(cudaErrorInvalidValue);
    *pointer = NULL;
    if (simt_peek_error_blocking_launches() != cudaSuccess)
        return simt_peek_error_blocking_launches();
    if (memory_type != MEMORY_TYPE_DEVICE_HEAP &&
        (!simt_arena_reserve_if_needed() || !simt_install_host_access_handler(simt_arena_describe_address)))
        return simt_fault_no_address_space();
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > simt_physical_memory_bytes() || simt_arena.in_use_bytes > simt_physical_memory_bytes() - bytes ||
        !simt_array_reserve(&simt_arena.allocations, &simt_arena.capacity, simt_arena.num_allocations + 1,
                            sizeof *simt_arena.allocations))
        return simt_set_last_error(cudaErrorMemoryAllocation);
    const size_t slot = ((bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + RED_ZONE_BYTES + unit - 1) / unit * unit;
    const size_t index = find_gap(slot + unit - ALIGNMENT, &begin);
    const size_t offset = (begin + unit - 1) / unit * unit;

    if (!simt_arena_commit(offset + slot) || !simt_arena_set_access(offset, bytes, true))
        return simt_set_last_error(cudaErrorMemoryAllocation);
    /* The initial contents are NaNs and -1, so that no kernel can rely on them. */
    memset(simt_arena.base + offset, 0xff, bytes);
    if (memory_type == MEMORY_TYPE_DEVICE)
        simt_arena_set_access(offset, bytes, false);
    if (offset < simt_arena.used_end)
        simt_mark_accessible(offset, bytes);
    simt_set_unwritten_marks(offset, bytes, !shared); /* writes by the host are not observed */
    simt_mark_inaccessible(begin, offset - begin);
    simt_mark_inaccessible(offset + bytes, slot - bytes);
    if (offset + slot > simt_arena.used_end)
        simt_arena.used_end = offset + slot;
    memmove(&simt_arena.allocations[index + 1], &simt_arena.allocations[index],
            (simt_arena.num_allocations - index) * sizeof *simt_arena.allocations);
    simt_arena.allocations[index] = (struct allocation){.offset = offset,
                                                        .bytes = bytes,
                                                        .slot_bytes = slot,
                                                        .memory_type = memory_type,
                                                        .marks_not_in_shadow = true,
                                                        .allocation_site = call_site,
                                                        .array_offset = offset,
                                                        .array_bytes = bytes};
    simt_arena.any_marks_not_in_shadow = true;
    simt_arena.num_allocations++;
    simt_arena.num_host_accessible_allocations += shared;
    simt_has_pinned_or_managed_memory = simt_arena.num_host_accessible_allocations > 0;
    simt_arena.in_use_bytes += bytes;
    *pointer = simt_arena.base + offset;
    return cudaSuccess;
}

struct allocation *simt_allocation_at_or_after(const void *pointer)
{
    const size_t index = find_after(arena_offset(pointer));

    return index < simt_arena.num_allocations ? &simt_arena.allocations[index] : NULL;
}

const struct allocation *simt_allocation_starting_at(const void *pointer)
{
    const struct allocation *const allocation = simt_arena.base ? simt_allocation_at_or_after(pointer) : NULL;

    return allocation && allocation->offset == arena_offset(pointer) ? allocation : NULL;
}

void simt_arena_free(const struct allocation *allocation, uintptr_t call_site)
{
    const size_t index = (size_t)(allocation - simt_arena.allocations);
    struct allocation gone = *allocation;

    gone.free_site = call_site;
    if (is_pinned_or_managed_type(gone.memory_type))
        simt_arena_set_access(gone.offset, gone.bytes, false);
    simt_mark_inaccessible(gone.offset, gone.bytes);
    quarantine_slot(gone);
    simt_arena.in_use_bytes -= gone.bytes;
    simt_arena.num_allocations--;
    simt_arena.num_host_accessible_allocations -= is_pinned_or_managed_type(gone.memory_type);
    simt_has_pinned_or_managed_memory = simt_arena.num_host_accessible_allocations > 0;
    memmove(&simt_arena.allocations[index], &simt_arena.allocations[index + 1],
            (simt_arena.num_allocations - index) * sizeof *simt_arena.allocations);
    if (gone.bytes >= HUGE_PAGE_BYTES) {
        const size_t first = (gone.offset + HUGE_PAGE_BYTES - 1) & ~(size_t)(HUGE_PAGE_BYTES - 1);
        const size_t last = (gone.offset + gone.bytes) & ~(size_t)(HUGE_PAGE_BYTES - 1);

        if (first < last)
            madvise(simt_arena.base + first, last - first, MADV_DONTNEED);
    }
}

int32_t simt_arena_allocation_index(uint64_t offset, uint64_t *offset_in_allocation)
{
    const size_t index = find_after(offset);

    *offset_in_allocation = index < simt_arena.num_allocations ? offset - simt_arena.allocations[index].offset : offset;
    return (int32_t)index;
}

void simt_register_array_bounds(const void *begin, size_t bytes, const char *name)
{
    const size_t offset = arena_offset(begin);
    struct allocation *const allocation = simt_arena.base && offset < simt_arena.used_end
                                              ? simt_allocation_at_or_after(begin)
                                              : NULL;

    if (!allocation || offset < allocation->offset || bytes > allocation->offset + allocation->bytes - offset)
        return;
    allocation->array_offset = offset;
    allocation->array_bytes = bytes;
    snprintf(allocation->name, sizeof allocation->name, "%s", name);
    simt_mark_inaccessible(allocation->offset, offset - allocation->offset);
    simt_mark_inaccessible(offset + bytes, allocation->offset + allocation->bytes - offset - bytes);
}

/** Returns the freed allocation that contained an offset if its slot is still in quarantine, otherwise NULL. */
static const struct allocation *freed_at(size_t offset)
{
    for (unsigned i = quarantine.count; i-- > 0;)
        if (offset >= quarantine.slot[i].offset && offset - quarantine.slot[i].offset < quarantine.slot[i].slot_bytes)
            return &quarantine.slot[i];
    return NULL;
}

static size_t array_end(const struct allocation *allocation)
{
    return allocation->array_offset + allocation->array_bytes;
}

/** Writes `where` and the name and size of the allocation's array: "4 bytes before 'x', which has 128 bytes". */
static void describe_from(const char *where, const struct allocation *allocation, char *text, size_t size)
{
    if (allocation->name[0])
        snprintf(text, size, "%s '%s', which has %zu byte%s", where, allocation->name, allocation->array_bytes,
                 plural_ending(allocation->array_bytes));
    else
        snprintf(text, size, "%s an allocation of %zu byte%s", where, allocation->array_bytes,
                 plural_ending(allocation->array_bytes));
}

/** Where the memory that a description mentions was allocated and freed: program counters, or 0. */
struct history_of_memory {
    uintptr_t allocation_site; /**< 0 if the array has a name */
    uintptr_t free_site;       /**< 1 if it has been freed at an unknown place */
    size_t pitch;              /**< of the rows that cudaMallocPitch() allocated, otherwise 0 */
    bool is_ahead;             /**< the described offset is before the array */
};

/** Describes an offset by the array that contains it or, if none does, by the closest array. */
static struct history_of_memory describe(size_t offset, char *text, size_t size)
{
    const struct allocation *const end = simt_arena.allocations + simt_arena.num_allocations;
    const struct allocation *const first = simt_arena.allocations + find_after(offset);
    const struct allocation *const ahead = first < end && offset >= array_end(first) ? first + 1 : first;
    const struct allocation *const behind = ahead > simt_arena.allocations ? ahead - 1 : NULL;
    const struct allocation *const freed = freed_at(offset);
    const size_t past = behind ? offset - array_end(behind) : SIZE_MAX;
    const size_t before = ahead < end ? ahead->array_offset - offset : SIZE_MAX;
    const struct allocation *live = NULL;
    char where[64];

    if (ahead < end && offset >= ahead->array_offset) {
        live = ahead;
        snprintf(where, sizeof where, "%zu byte%s into", offset - ahead->array_offset,
                 plural_ending(offset - ahead->array_offset));
        describe_from(where, ahead, text, size);
    } else if (freed) {
        describe_from("in", freed, text, size);
        strncat(text, freed->name[0] ? " and has been freed" : " that has been freed", size - strlen(text) - 1);
    } else if (behind && past <= before && offset < behind->offset + behind->slot_bytes) {
        snprintf(where, sizeof where, past == 0 ? "right past the end of" : "%zu byte%s past the end of", past,
                 plural_ending(past));
        describe_from(where, behind, text, size);
        live = behind;
    } else if (ahead < end && offset + RED_ZONE_BYTES >= ahead->offset) {
        snprintf(where, sizeof where, "%zu byte%s before", before, plural_ending(before));
        describe_from(where, ahead, text, size);
        live = ahead;
    } else {
        snprintf(text, size, "in memory that has been freed");
        return (struct history_of_memory){.free_site = 1};
    }
    return live ? (struct history_of_memory){.allocation_site = live->name[0] ? 0 : live->allocation_site,
                                             .pitch = live->name[0] ? 0 : live->pitch,
                                             .is_ahead = offset < live->array_offset}
                : (struct history_of_memory){.free_site = freed->free_site};
}

bool simt_arena_describe_address(uintptr_t address, char *text, size_t size)
{
    const size_t offset = address - (uintptr_t)simt_arena.base;

    if (!simt_arena.base || offset >= simt_arena.reserved_bytes)
        return false;
    describe(offset, text, size);
    return true;
}

/** Returns where the memory at an address was allocated or freed; all 0 if the address is not in the arena. */
static struct history_of_memory history_at(uintptr_t address)
{
    const size_t offset = address - (uintptr_t)simt_arena.base;
    char text[160];

    if (!simt_arena.base || offset >= simt_arena.reserved_bytes)
        return (struct history_of_memory){0};
    return describe(offset, text, sizeof text);
}

uintptr_t simt_arena_allocation_site_if_unnamed(uintptr_t address)
{
    return history_at(address).allocation_site;
}

uintptr_t simt_arena_free_site(uintptr_t address)
{
    return history_at(address).free_site;
}

const char *simt_arena_array_name(uintptr_t address, size_t *offset, size_t *bytes)
{
    const size_t at = address - (uintptr_t)simt_arena.base;
    const size_t index = find_after(at);
    const struct allocation *const allocation = simt_arena.allocations + index;

    if (index >= simt_arena.num_allocations || at < allocation->offset)
        return "";
    *offset = at - allocation->array_offset;
    *bytes = allocation->array_bytes;
    return allocation->name;
}

uintptr_t simt_allocation_nearest_written_word(uintptr_t address, size_t *written_prefix_bytes)
{
    const size_t at = (address - (uintptr_t)simt_arena.base) / 4 * 4;
    const struct allocation *const allocation = simt_arena.allocations + find_after(at);
    size_t first_unwritten = 0;

    *written_prefix_bytes = 0;
    if (allocation == simt_arena.allocations + simt_arena.num_allocations || at < allocation->array_offset)
        return 0;
    const size_t begin = allocation->array_offset, end = array_end(allocation);
    const size_t unwritten = simt_count_unwritten_bytes(begin, end - begin, &first_unwritten);

    if (unwritten > 0 && first_unwritten + unwritten == end)
        *written_prefix_bytes = first_unwritten - begin;
    for (size_t distance = 0; distance < end - begin; distance += 4) {
        if (at >= begin + distance && simt_arena_word_marks(address / 4 * 4 - distance).unwritten_mask != 0xf)
            return address / 4 * 4 - distance;
        if (at + distance < end && simt_arena_word_marks(address / 4 * 4 + distance).unwritten_mask != 0xf)
            return address / 4 * 4 + distance;
    }
    return 0;
}

void simt_allocation_record_host_write(const void *to, size_t bytes, const char *call, uintptr_t call_site)
{
    struct allocation *const allocation = simt_allocation_at_or_after(to);

    if (!allocation || arena_offset(to) < allocation->array_offset)
        return;
    const size_t begin = arena_offset(to) - allocation->array_offset, end = begin + bytes;
    struct host_write *const last = &allocation->last_host_write;

    if (!last->call || last->call_site != call_site)
        *last = (struct host_write){call, call_site, begin, end};
    last->begin = begin < last->begin ? begin : last->begin;
    last->end = end > last->end ? end : last->end;
}

struct host_write simt_host_write_before_unwritten(uintptr_t address)
{
    const size_t at = address - (uintptr_t)simt_arena.base;
    const struct allocation *const allocation = simt_arena.allocations + find_after(at);

    if (allocation == simt_arena.allocations + simt_arena.num_allocations || at < allocation->array_offset)
        return (struct host_write){0};
    const struct host_write written = allocation->last_host_write;
    size_t word = (allocation->array_offset + written.end + 3) / 4 * 4;

    if (!written.call || allocation->array_offset + written.end > at)
        return (struct host_write){0};
    while (word < at && simt_arena_word_marks((uintptr_t)simt_arena.base + word).unwritten_mask == 0xf)
        word += 4;
    return word < at / 4 * 4 ? (struct host_write){0} : written;
}

bool simt_arena_advise_on_pitch(char *text, size_t size)
{
    for (size_t i = 0; i < simt_arena.num_allocations; i++) {
        const struct allocation *const rows = &simt_arena.allocations[i];

        if (!rows->pitch)
            continue;
        snprintf(text, size,
                 SIMT_ADVICE_PREFIX
                 "if it is an access to the allocation made" SIMT_PC_LOCATION_FORMAT
                 ", count its pitch, %zu, in bytes, not in elements: row y begins at (float *)((char "
                 "*)p + y * pitch); or compare the index with the number of elements",
                 rows->allocation_site, rows->pitch);
        return true;
    }
    return false;
}

const char *simt_words_between_count_and_number(const char *place, unsigned num_bytes)
{
    if (*place < '0' || *place > '9')
        return "";
    return num_bytes == 1 ? " that begins" : " that begin";
}

_Noreturn void simt_fault_inaccessible(uintptr_t address, uint32_t byte_mask, bool write, uintptr_t pc)
{
    const int count = __builtin_popcount(byte_mask);
    char where[160], at[480] = "";
    char made[64] = "";
    const struct history_of_memory history = describe(
        address - (uintptr_t)simt_arena.base + (size_t)__builtin_ctz(byte_mask), where, sizeof where);

    if (history.allocation_site)
        snprintf(made, sizeof made, ", made" SIMT_PC_LOCATION_FORMAT, history.allocation_site);
    if (history.free_site > 1)
        snprintf(at, sizeof at, SIMT_PC_LOCATION_FORMAT, history.free_site);
    else if (history.is_ahead)
        snprintf(at, sizeof at,
                 "%s" SIMT_ADVICE_PREFIX
                 "an index below 0? In C, -1 %% n is -1, not n - 1; check how the index is computed, or compare it "
                 "with 0 before the access",
                 made);
    else if (history.pitch)
        snprintf(at, sizeof at,
                 "%s" SIMT_ADVICE_PREFIX
                 "count the pitch, %zu, in bytes, not in elements, as in (float *)((char *)p + y * pitch) for row y; "
                 "if it is right, compare the index with the width and the height before the access",
                 made, history.pitch);
    else if (history.allocation_site)
        snprintf(at, sizeof at,
                 "%s" SIMT_ADVICE_PREFIX
                 "compare the index with 0 and the number of elements before the access, as in if (i < n); or, if the "
                 "index should be in bounds, check how it is computed; or a larger allocation: cudaMalloc() counts "
                 "bytes, n * sizeof(int) for n ints",
                 made);
    simt_fault_here(cudaErrorIllegalAddress, pc, history.free_site ? "use after free" : "out-of-bounds global access",
                    "%s %d byte%s%s %s%s", write ? "writes" : "reads", count, count == 1 ? "" : "s",
                    simt_words_between_count_and_number(where, (unsigned)count), where, at);
}
