/**
 * @file arena.h
 * @brief The arena that serves as device memory: its allocations with their owners, and the per-byte state of its
 *        memory. Used by memory/ and by the runtime calls that allocate, free and copy.
 */
#ifndef SIMT_ARENA_H
#define SIMT_ARENA_H

#include "cuda_runtime.h"
#include "device_memory.h"

enum { RED_ZONE_BYTES = 256, HUGE_PAGE_BYTES = 2 * 1024 * 1024, ARRAY_NAME_SIZE = 40 };

/** The owner of an allocation, which determines whether the host may access the memory and which call frees it. */
enum allocation_owner { OWNER_DEVICE, OWNER_PINNED, OWNER_MANAGED, OWNER_KERNEL };

struct allocation {
    size_t offset;
    size_t bytes;
    size_t slot_bytes;           /**< size including padding and red zone */
    enum allocation_owner owner; /**< host-accessible memory has separate pages, which are never closed */
    bool is_new;                 /**< the allocation's unwritten marks are not in the shadow yet */
    uintptr_t made_at;           /**< call that allocated it */
    uintptr_t freed_at;          /**< for freed memory: where it was freed */
    const char *allocating_call; /**< for memory that a kernel has allocated: the call, such as "new[]" */
    bool host_checks;            /**< the host may copy unwritten bytes, because its own checks find them */
    size_t array_offset;         /**< offset of the bytes that kernels may access: all, or simt_register_array()'s */
    size_t array_bytes;
    char name[ARRAY_NAME_SIZE]; /**< "" if the array has no name */
};

/** Marks of 32 bytes of the arena, one bit per byte. */
struct byte_marks {
    uint32_t off_limits;
    uint32_t unwritten;
};

struct arena {
    unsigned char *base;
    size_t reserved_bytes;
    size_t committed_bytes;
    size_t used_end; /**< highest end of any slot allocated so far */
    size_t in_use_bytes;
    size_t available_bytes; /**< memory that the machine had available at the first request */
    struct shadow_cell *shadow;
    struct byte_marks *byte_marks;
    uint32_t *read_only; /**< one bit per byte, set if this launch has read the byte through __ldg */
    size_t read_only_low, read_only_high;
    struct allocation *allocations; /**< sorted by offset */
    size_t num_allocations;
    size_t capacity;
    bool any_new;               /**< at least one allocation is new */
    size_t num_host_accessible; /**< number of allocations that the host may access */
};

static inline bool is_host_accessible(enum allocation_owner owner)
{
    return owner == OWNER_PINNED || owner == OWNER_MANAGED;
}

extern struct arena simt_arena;

static inline size_t arena_offset(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)simt_arena.base;
}

/** Reserves address space and makes its beginning usable. Returns false if no address space is available. */
bool simt_arena_map(void);
/** Makes the arena usable up to `top`. Returns false if out of memory. */
bool simt_arena_commit(size_t top);
size_t simt_physical_memory(void);

/** Sets or clears the unwritten marks of the bytes in [from, to). */
void simt_set_unwritten(size_t begin, size_t end, bool unwritten);
void simt_forbid_bytes(size_t begin, size_t end);
void simt_allow_bytes(size_t begin, size_t bytes);
void simt_copy_marks_to_shadow(size_t begin, size_t end);
void simt_copy_unwritten(size_t destination, size_t source, size_t bytes);
size_t simt_count_unwritten(size_t begin, size_t bytes, size_t *first_unwritten);
void simt_forget_read_only(void);

/**
 * Enables (if `allow`) or disables this process's access to a range of the arena. Host code has no access; the runtime
 * has access only while it executes a call from the host. While the arena is kept open, ranges that are already open
 * stay open.
 */
bool simt_arena_set_access(size_t begin, size_t end, bool allow);

/**
 * Allocates memory for kernels, for a call at `call_site`, or returns an error. *pointer is NULL if `bytes` is 0.
 */
cudaError_t simt_arena_allocate(void **pointer, size_t bytes, enum allocation_owner owner, uintptr_t call_site);
/** Frees an allocation, for a call at `call_site`. */
void simt_arena_free(const struct allocation *allocation, uintptr_t call_site);
/** Returns the allocation that begins at a pointer, or NULL if none does. */
const struct allocation *simt_allocation_at(const void *pointer);
/**
 * Returns the first allocation that ends after a pointer into the arena; if an allocation contains the pointer, this is
 * the one returned. Returns NULL if no allocation ends after the pointer.
 */
struct allocation *simt_allocation_of(const void *pointer);

bool simt_is_device_pointer(const void *pointer);
/**
 * Returns whether all the bytes are in one live allocation that was not made by a kernel, or in the memory of
 * __device__ and __constant__ variables.
 */
bool simt_is_device_range(const void *pointer, size_t bytes);
/** Returns whether all the bytes belong to __device__ or __constant__ variables. */
bool simt_in_program_data(const void *pointer, size_t bytes);
/** Returns whether the pointer refers to a `__device__` or `__constant__` variable that is const. */
bool simt_is_device_constant(const void *pointer);
/** Returns whether a pointer points to memory that a kernel has allocated. */
bool simt_is_kernel_allocation(const void *pointer);
/** Returns whether a pointer points to memory that both the host and kernels may access: pinned or managed. */
bool simt_is_host_accessible(const void *pointer);
/** Returns whether a pointer points to memory that the host may access. */
bool simt_host_may_access(const void *pointer);

#endif
