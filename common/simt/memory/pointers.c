/**
 * @file pointers.c
 * @brief Classifies the host program's pointers: device memory, memory shared with the host, or host memory.
 */
#include "arena.h"
#include "machine/program_image.h"

#include <unistd.h>

bool simt_is_arena_pointer(const void *pointer)
{
    return simt_arena.base && arena_offset(pointer) < simt_arena.reserved_bytes;
}

static bool is_within(uintptr_t address, size_t bytes, uintptr_t low, uintptr_t high)
{
    return address >= low && address < high && bytes <= high - address;
}

static bool is_constant(uintptr_t address, size_t bytes)
{
    return is_within(address, bytes, simt_program.read_only_constants_low, simt_program.read_only_constants_high) ||
           is_within(address, bytes, simt_program.read_only_device_low, simt_program.read_only_device_high);
}

bool simt_is_const_qualified_variable(const void *pointer)
{
    return simt_program_find_segments() && is_constant((uintptr_t)pointer, 1);
}

bool simt_is_constant_variable(const void *pointer)
{
    const uintptr_t address = (uintptr_t)pointer;

    return simt_program_find_segments() &&
           (is_within(address, 1, simt_program.constant_low, simt_program.constant_high) ||
            is_within(address, 1, simt_program.read_only_constants_low, simt_program.read_only_constants_high));
}

bool simt_is_device_variable_range(const void *pointer, size_t bytes)
{
    const uintptr_t address = (uintptr_t)pointer;

    if (!simt_program_find_segments())
        return false;
    return is_within(address, bytes, simt_program.device_variables_low, simt_program.device_variables_high) ||
           is_within(address, bytes, simt_program.constant_low, simt_program.constant_high) ||
           is_constant(address, bytes);
}

bool simt_runtime_may_access_cuda_memory(const void *pointer, size_t bytes)
{
    if (!simt_is_arena_pointer(pointer))
        return simt_is_device_variable_range(pointer, bytes);
    const size_t offset = arena_offset(pointer);
    const struct allocation *allocation = simt_allocation_at_or_after(pointer);

    return allocation && offset >= allocation->offset && allocation->memory_type != MEMORY_TYPE_DEVICE_HEAP &&
           bytes <= allocation->offset + allocation->bytes - offset;
}

bool simt_is_device_heap_pointer(const void *pointer)
{
    const struct allocation *const allocation = simt_is_arena_pointer(pointer) ? simt_allocation_at_or_after(pointer)
                                                                               : NULL;

    return allocation && arena_offset(pointer) >= allocation->offset &&
           allocation->memory_type == MEMORY_TYPE_DEVICE_HEAP;
}

bool simt_is_pinned_or_managed(const void *pointer)
{
    return simt_is_arena_pointer(pointer) && simt_runtime_may_access_cuda_memory(pointer, 1) &&
           is_pinned_or_managed_type(simt_allocation_at_or_after(pointer)->memory_type);
}

bool simt_host_may_access(const void *pointer)
{
    return pointer && (simt_is_pinned_or_managed(pointer) ||
                       (!simt_is_arena_pointer(pointer) && !simt_is_device_variable_range(pointer, 1)));
}

bool simt_host_access_is_invalid_without_signal(const void *pointer, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (simt_host_may_access_all_device_memory() || !simt_is_arena_pointer(pointer) ||
        (simt_is_pinned_or_managed(pointer) && simt_runtime_may_access_cuda_memory(pointer, bytes)))
        return false;
    for (size_t i = 0; i < simt_arena.num_allocations; i++) {
        const struct allocation *allocation = &simt_arena.allocations[i];
        const size_t first = allocation->offset / page, last = (allocation->offset + allocation->slot_bytes - 1) / page;

        if (is_pinned_or_managed_type(allocation->memory_type) && arena_offset(pointer) / page - first <= last - first)
            return true;
    }
    return false;
}
