/**
 * @file arena.h
 * @brief The arena that serves as device memory: its allocations with their memory types, and the per-byte state of
 *        its memory. Used by memory/ and by the runtime calls that allocate, free and copy.
 */
#ifndef SIMT_ARENA_H
#define SIMT_ARENA_H

#include "cuda_runtime.h"
#include "device_memory.h"
#include "machine/pages.h"

enum { RED_ZONE_BYTES = 256, ARRAY_NAME_SIZE = 40 };

/**
 * The memory type of an allocation, which determines whether the host may access it and which call frees it. Kernels
 * allocate from the device heap.
 */
enum memory_type { MEMORY_TYPE_DEVICE, MEMORY_TYPE_PINNED, MEMORY_TYPE_MANAGED, MEMORY_TYPE_DEVICE_HEAP };

struct allocation {
    size_t offset;
    size_t bytes;
    size_t slot_bytes;            /**< size including padding and red zone */
    enum memory_type memory_type; /**< host-accessible memory has separate pages, which are never closed */
    bool marks_not_in_shadow;     /**< the allocation's unwritten marks are not in the shadow yet */
    uintptr_t allocation_site;    /**< call site that allocated it */
    uintptr_t free_site;          /**< for freed memory: call site that freed it */
    const char *allocating_call;  /**< for memory that a kernel has allocated: the call, such as "new[]" */
    size_t pitch;                 /**< for rows of cudaMallocPitch(): bytes from one row to the next, otherwise 0 */
    struct host_write last_host_write;
    bool host_may_copy_unwritten; /**< the host may copy unwritten bytes, because its own checks find them */
    size_t array_offset; /**< offset of the bytes that kernels may access: all, or simt_register_array_bounds()'s */
    size_t array_bytes;
    char name[ARRAY_NAME_SIZE]; /**< "" if the array has no name */
};

/** Marks of 32 bytes of the arena, one bit per byte. */
struct marks_of_32_bytes {
    uint32_t inaccessible_mask; /**< outside every array that kernels may access */
    uint32_t unwritten_mask;
};

struct arena {
    unsigned char *base;
    size_t reserved_bytes;
    size_t committed_bytes;
    size_t used_end; /**< highest end of any slot allocated so far */
    size_t in_use_bytes;
    size_t machine_available_bytes; /**< memory that the machine had available at the first request */
    struct shadow_cell *shadow;
    struct marks_of_32_bytes *marks_of_32_bytes;
    uint32_t *ldg_read_bitmap; /**< one bit per byte, set if this launch has read the byte through __ldg */
    size_t ldg_read_low, ldg_read_high;
    struct allocation *allocations; /**< sorted by offset */
    size_t num_allocations;
    size_t capacity;
    bool any_marks_not_in_shadow;           /**< at least one allocation has marks_not_in_shadow */
    size_t num_host_accessible_allocations; /**< number of allocations that the host may access */
};

/** Returns whether both the host and kernels may access memory of a type. */
static inline bool is_pinned_or_managed_type(enum memory_type type)
{
    return type == MEMORY_TYPE_PINNED || type == MEMORY_TYPE_MANAGED;
}

extern struct arena simt_arena;

/** Returns the offset in bytes of a pointer into the arena. */
static inline size_t arena_offset(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)simt_arena.base;
}

/** Reserves address space and makes its beginning usable. Returns false if no address space is available. */
bool simt_arena_reserve_address_space(void);
/** Makes the arena usable up to `top`. Returns false if out of memory. */
bool simt_arena_commit(size_t top);
/** Returns the size of the machine's memory in bytes. */
size_t simt_physical_memory_bytes(void);

/* Marks of ranges of the arena. `begin`, `destination` and `source` are offsets in it, in bytes. */

/** Sets or clears the unwritten marks of a range. */
void simt_set_unwritten_marks(size_t begin, size_t bytes, bool unwritten);
/** Marks a range as inaccessible to kernels, such as a red zone or freed memory, in the marks and in the shadow. */
void simt_mark_inaccessible(size_t begin, size_t bytes);
/** Clears the inaccessible marks of a range, and the shadow cells of its words, because its slot is being reused. */
void simt_mark_accessible(size_t begin, size_t bytes);
/** Sets the bits of a range's marked bytes in the shadow, so that accesses check the marks. */
void simt_copy_marks_to_shadow(size_t begin, size_t bytes);
/** Copies the unwritten marks of one range to another; the two may overlap. */
void simt_copy_unwritten_marks(size_t destination, size_t source, size_t bytes);
/**
 * Returns the number of unwritten bytes in a range, not counting padding. If there are any, stores the offset of the
 * first one in *first_unwritten.
 */
size_t simt_count_unwritten_bytes(size_t begin, size_t bytes, size_t *first_unwritten);
/** Forgets which bytes a launch has read through __ldg; called when the next launch begins. */
void simt_clear_ldg_reads(void);

/**
 * Enables (if `allow`) or disables this process's access to the pages of a range of the arena. Host code has no access;
 * the runtime has access only while it executes a call from the host. While the arena is kept open, ranges that are
 * already open stay open. Returns false on failure.
 */
bool simt_arena_set_access(size_t begin, size_t bytes, bool allow);

/**
 * Allocates memory for kernels, for a call at `call_site`, or returns an error. *pointer is NULL if `bytes` is 0.
 */
cudaError_t simt_arena_allocate(void **pointer, size_t bytes, enum memory_type memory_type, uintptr_t call_site);
/** Frees an allocation, for a call at `call_site`. */
void simt_arena_free(const struct allocation *allocation, uintptr_t call_site);
/** Returns the allocation that begins at a pointer, or NULL if none does. */
const struct allocation *simt_allocation_starting_at(const void *pointer);
/**
 * Returns the first allocation that ends after a pointer into the arena; if an allocation contains the pointer, this is
 * the one returned. Returns NULL if no allocation ends after the pointer.
 */
struct allocation *simt_allocation_at_or_after(const void *pointer);
/** Records that a call of the host has written bytes of the arena. */
void simt_allocation_record_host_write(const void *to, size_t bytes, const char *call, uintptr_t call_site);

/** Returns whether a pointer points into the arena, whether or not the memory is allocated. */
bool simt_is_arena_pointer(const void *pointer);
/**
 * Returns whether CUDA's runtime calls may access all the bytes in device memory: whether they are in one live
 * allocation that was not made by a kernel, or in the memory of __device__ and __constant__ variables.
 */
bool simt_runtime_may_access_cuda_memory(const void *pointer, size_t bytes);
/** Returns whether all the bytes belong to __device__ or __constant__ variables. */
bool simt_is_device_variable_range(const void *pointer, size_t bytes);
/** Returns whether the address is that of a `__constant__` variable. */
bool simt_is_constant_variable(const void *pointer);
/** Returns whether the pointer refers to a `__device__` or `__constant__` variable that is const. */
bool simt_is_const_qualified_variable(const void *pointer);
/** Returns whether a pointer points to memory that a kernel has allocated from the device heap. */
bool simt_is_device_heap_pointer(const void *pointer);
/** Returns whether a pointer points to memory that both the host and kernels may access: pinned or managed. */
bool simt_is_pinned_or_managed(const void *pointer);
/** Returns whether a pointer points to memory that the host may access. */
bool simt_host_may_access(const void *pointer);

#endif
