/** @file arena.h  Device memory from inside: the arena, what is known of its bytes, and who has which of them. */
#ifndef SIMT_ARENA_H
#define SIMT_ARENA_H

#include "cuda_runtime.h"
#include "device_memory.h"

enum { RED_ZONE = 256, HUGE_PAGE = 2 * 1024 * 1024 };

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

struct arena {
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
};

static inline bool is_hosts_too(enum owner owner)
{
    return owner == OWNER_PINNED || owner == OWNER_MANAGED;
}

extern struct arena simt_arena;

static inline size_t arena_offset(const void *pointer)
{
    return (uintptr_t)pointer - (uintptr_t)simt_arena.base;
}

/** Reserves address space, and lets some of it be used; false if there is none. */
bool simt_arena_map(void);
/** Lets the arena be used up to `top`. */
bool simt_arena_commit(size_t top);
size_t simt_physical_memory(void);

/** What is known of the bytes in [from, to). */
void simt_set_unwritten(size_t from, size_t to, bool value);
void simt_forbid_bytes(size_t from, size_t to);
void simt_allow_bytes(size_t from, size_t bytes);
void simt_show_marks(size_t from, size_t to);
void simt_copy_unwritten(size_t to, size_t from, size_t bytes);
size_t simt_count_unwritten(size_t from, size_t bytes, size_t *first);
void simt_forget_read_only(void);

/**
 * Lets this process touch a stretch of the arena, or no longer: the host may not, except to do what it asks the runtime
 * for. While the arena is kept open, what was opened stays so.
 */
bool simt_arena_let(size_t from, size_t to, bool touch);

/** Memory for kernels, or an error; NULL if `bytes` is 0. */
cudaError_t simt_allocate(void **pointer, size_t bytes, enum owner owner);
void simt_release(const struct allocation *allocation);
/** The allocation that begins at a pointer; NULL if none does. */
const struct allocation *simt_allocation_at(const void *pointer);
/** The first allocation that ends behind a pointer into the arena: the one it is in, if it is in one. NULL: none. */
struct allocation *simt_allocation_of(const void *pointer);

bool simt_is_device(const void *pointer);
/**
 * Whether all the bytes lie in one live allocation that is not a kernel's own, or where __device__ and __constant__
 * variables are.
 */
bool simt_device_range(const void *pointer, size_t bytes);
/** Whether all the bytes are __device__ or __constant__ variables'. */
bool simt_in_program_data(const void *pointer, size_t bytes);
/** Whether a pointer is to memory that the host and kernels have together: pinned or managed. */
bool simt_is_shared(const void *pointer);
/** Whether a pointer is to memory that the host may touch. */
bool simt_host_range(const void *pointer);

#endif
