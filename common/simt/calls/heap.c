/**
 * @file heap.c
 * @brief malloc(), free(), new and delete in kernels. They use device memory, and their allocations outlive the launch.
 */
#include "device_calls.h"
#include "kernel_calls.h"
#include "machine/fault.h"
#include "memory/arena.h"
#include "memory/shadow.h"

#include <stdlib.h>
#include <string.h>

/* C++'s operators new and delete for kernel files. Host code in these files is linked with the same definitions. */
void *simt_new(size_t bytes) __asm__("_Znwm");
void *simt_new_array(size_t bytes) __asm__("_Znam");
void simt_delete(void *memory) __asm__("_ZdlPv");
void simt_delete_array(void *memory) __asm__("_ZdaPv");
void simt_delete_sized(void *memory, size_t bytes) __asm__("_ZdlPvm");
void simt_delete_array_sized(void *memory, size_t bytes) __asm__("_ZdaPvm");

size_t simt_heap_limit_bytes = (size_t)8 << 20;
bool simt_heap_is_used;
static size_t heap_used;

/** Returns how many bytes of the heap an allocation uses. */
static size_t heap_bytes(size_t bytes)
{
    return (bytes + 15) / 16 * 16 + 16;
}

/** Allocates memory from the heap, for the call `made_by` at `call_site`; returns NULL if there is not enough. */
static void *heap_allocate(size_t bytes, const char *made_by, uintptr_t call_site)
{
    void *memory = NULL;

    simt_heap_is_used = true;
    if (bytes > simt_heap_limit_bytes || heap_used + heap_bytes(bytes) > simt_heap_limit_bytes)
        return NULL;
    if (simt_arena_allocate(&memory, bytes, MEMORY_TYPE_DEVICE_HEAP, call_site) != cudaSuccess || !memory)
        return NULL;
    const size_t offset = arena_offset(memory);

    simt_arena.allocations[simt_allocation_starting_at(memory) - simt_arena.allocations].allocating_call = made_by;
    heap_used += heap_bytes(bytes);
    simt_copy_marks_to_shadow(offset, bytes);
    simt_memory.arena_bytes = simt_arena.used_end;
    simt_observe_each_lane_access(simt_memory.is_watched);
    return memory;
}

/**
 * Checks that all accesses by other threads to an allocation are ordered before the free, as if the free were a store.
 */
static void check_unused(const struct allocation *allocation, uintptr_t pc)
{
    struct word_access access = {.address = (uintptr_t)simt_arena.base + allocation->offset,
                                 .pc = pc,
                                 .pc_slot = pc_slot_find_or_add(pc),
                                 .byte_mask = 0xf,
                                 .is_deallocation = true,
                                 .access_type = ACCESS_STORE,
                                 .space = SPACE_GLOBAL};

    for (size_t word = 0; word < (allocation->bytes + 3) / 4; word++, access.address += 4)
        shadow_check_store_races(&simt_arena.shadow[allocation->offset / 4 + word], access, 0);
}

/** For each call that allocates memory, the call that must free that memory. */
static const struct {
    const char *allocates, *frees;
} calls[] = {{"malloc()", "free()"}, {"new", "delete"}, {"new[]", "delete[]"}};

static _Noreturn void fault_mismatch(const char *freed_by, const char *allocated_by, const char *right, uintptr_t pc)
{
    simt_fault_here(cudaErrorLaunchFailure, pc, "mismatched free", "frees by %s memory from %s" SIMT_ADVICE_PREFIX "%s",
                    freed_by, allocated_by, right);
}

/** Frees a heap allocation for the call `freed_by`; returns false if `memory` is not the start of an allocation. */
static bool heap_release(const void *memory, const char *freed_by, uintptr_t pc)
{
    const struct allocation *const allocation = simt_allocation_starting_at(memory);

    if (!allocation || allocation->memory_type != MEMORY_TYPE_DEVICE_HEAP)
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].allocates, allocation->allocating_call) == 0 && strcmp(calls[i].frees, freed_by) != 0)
            fault_mismatch(freed_by, allocation->allocating_call, calls[i].frees, pc);
    check_unused(allocation, pc);
    heap_used -= heap_bytes(allocation->bytes);
    simt_arena_free(allocation, pc);
    return true;
}

/** Allocates memory from the kernels' heap or, on the host, from the C library's heap. */
static void *allocate(size_t bytes, const char *made_by, uintptr_t call_site)
{
    return simt_running.lane ? heap_allocate(bytes, made_by, call_site) : malloc(bytes);
}

void *simt_malloc(size_t bytes)
{
    return allocate(bytes, "malloc()", SIMT_RETURN_ADDRESS());
}

/**
 * Returns whether a pointer is to the first object of an array of objects with destructors from new[], which keeps the
 * number of objects in front of them.
 */
static bool is_behind_count(const void *memory)
{
    const struct allocation *const allocation = simt_is_device_heap_pointer(memory)
                                                    ? simt_allocation_at_or_after(memory)
                                                    : NULL;
    const size_t offset = allocation ? arena_offset(memory) - allocation->offset : 0;

    return (offset == sizeof(size_t) || offset == 16) && strcmp(allocation->allocating_call, "new[]") == 0;
}

static _Noreturn void fault_release(const void *memory, const char *freed_by, uintptr_t pc)
{
    char where[160];

    if (strcmp(freed_by, "delete[]") != 0 && is_behind_count(memory))
        fault_mismatch(freed_by, "new[]", "delete[]", pc);

    if (simt_allocation_starting_at(memory) || !simt_arena_describe_address((uintptr_t)memory, where, sizeof where))
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address", "frees memory that no kernel has allocated");
    simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                    "frees a pointer that is %s; it must be one that malloc() returned, and not be freed twice", where);
}

static void release(void *memory, const char *freed_by, uintptr_t pc)
{
    if (!simt_running.lane)
        free(memory);
    else if (memory && !heap_release(memory, freed_by, pc))
        fault_release(memory, freed_by, pc);
}

void simt_free(void *memory)
{
    release(memory, "free()", SIMT_RETURN_ADDRESS());
}

void *simt_new(size_t bytes)
{
    return allocate(bytes, "new", SIMT_RETURN_ADDRESS());
}

void *simt_new_array(size_t bytes)
{
    return allocate(bytes, "new[]", SIMT_RETURN_ADDRESS());
}

void simt_delete(void *memory)
{
    release(memory, "delete", SIMT_RETURN_ADDRESS());
}

void simt_delete_array(void *memory)
{
    release(memory, "delete[]", SIMT_RETURN_ADDRESS());
}

void simt_delete_sized(void *memory, size_t bytes)
{
    (void)bytes;
    release(memory, "delete", SIMT_RETURN_ADDRESS());
}

void simt_delete_array_sized(void *memory, size_t bytes)
{
    (void)bytes;
    release(memory, "delete[]", SIMT_RETURN_ADDRESS());
}
