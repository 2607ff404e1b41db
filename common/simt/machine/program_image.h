/**
 * @file program_image.h
 * @brief Where what a kernel touches lies: the program's own segments, its built-in variables, global and shared
 * memory.
 */
#ifndef SIMT_PROGRAM_IMAGE_H
#define SIMT_PROGRAM_IMAGE_H

#include "cuda_runtime.h"
#include "device_limits.h"

struct program_image {
    uintptr_t bias;      /**< what the loader added to addresses in the file */
    uintptr_t low, high; /**< all of it */
    uintptr_t text_low, text_high;
    uintptr_t data_low, data_high;           /**< __device__ variables */
    uintptr_t host_low, host_high;           /**< writable: all variables, the host's too */
    uintptr_t relocated_low, relocated_high; /**< of that, what is writable only until the program begins */
    uintptr_t constant_low, constant_high;
    uintptr_t index_low, index_high; /**< threadIdx and its kin, for compilers that instrument constants */
};

extern struct program_image simt_program;

/** threadIdx and its kin, of the thread that runs. */
extern uint3 simt_thread_idx, simt_block_idx, simt_block_dim, simt_grid_dim;

/** The index of a thread by its number in the running launch's blocks, and of a block by its number in the grid. */
uint3 simt_thread_index(unsigned thread);
uint3 simt_block_index(uint32_t block);

/** How many threads the `__launch_bounds__` of a kernel, a function of so many bytes, allow in a block. */
unsigned simt_threads_bound(uintptr_t kernel, size_t bytes);

/** Finds the program's segments, once. */
bool simt_program_find(void);

/**
 * The calling OS thread's shared memory: its block of the program's thread-local storage, and the dynamic array in it.
 */
bool simt_shared_find(uintptr_t *low, size_t *bytes, size_t *dynamic);

struct shadow_cell;

/** What an access is looked up in, in a cache line or two. Outside kernels every range is empty. */
struct memory_ranges {
    uintptr_t arena;    /**< global memory handed out so far */
    size_t arena_quick; /**< its bytes; 0 while accesses are watched, so that they go the slow way */
    struct shadow_cell *arena_shadow;
    uintptr_t shared; /**< static shared memory and the dynamic array behind or before it: one TLS block */
    size_t shared_quick;
    struct shadow_cell *shared_shadow;
    size_t shared_end;    /**< offset of the first byte of the dynamic array that this launch did not ask for */
    size_t shared_resume; /**< offset of the first byte behind that array */
    size_t arena_bytes;
    size_t shared_bytes;
    struct shadow_cell *data_shadow; /**< of the program's own data */
    bool watched;
};

extern struct memory_ranges simt_memory;

/** Whether observers are told of each lane's accesses, or only of the warps' requests. */
void simt_memory_watch(bool watched);

#endif
