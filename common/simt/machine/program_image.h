/**
 * @file program_image.h
 * @brief The memory that a kernel accesses: the program's segments, the built-in variables, and global and shared
 *        memory. Used by all checks of accesses.
 */
#ifndef SIMT_PROGRAM_IMAGE_H
#define SIMT_PROGRAM_IMAGE_H

#include "cuda_runtime.h"
#include "device_limits.h"

/** The program's file and the addresses of its segments, which do not change while it runs. */
struct program_image {
    const char *file_path; /**< path of the program's file, which contains symbols and line numbers */
    uintptr_t load_bias;   /**< offset that the loader adds to the addresses in the file */
    uintptr_t low, high;   /**< all segments */
    uintptr_t text_low, text_high;
    uintptr_t device_variables_low, device_variables_high; /**< __device__ variables */
    uintptr_t writable_low, writable_high;                 /**< writable data: all variables, including the host's */
    uintptr_t relocated_low, relocated_high; /**< the part of the writable data that becomes read-only at start-up */
    uintptr_t constant_low, constant_high;
    uintptr_t read_only_constants_low, read_only_constants_high; /**< `__constant__ const`, which no copy may change */
    uintptr_t read_only_device_low, read_only_device_high;       /**< `__device__ const` */
    uintptr_t builtin_low, builtin_high; /**< built-in variables, for compilers that instrument accesses to constants */
};

extern struct program_image simt_program;

/** threadIdx, blockIdx, blockDim and gridDim of the running thread. */
extern uint3 simt_thread_idx, simt_block_idx, simt_block_dim, simt_grid_dim;

/**
 * Returns a thread's index from its number in a block of the running launch, or a block's index from its number in the
 * grid.
 */
uint3 simt_thread_index(unsigned thread);
uint3 simt_block_index(uint32_t block);

/**
 * Returns the largest number of threads in a block that a kernel's `__launch_bounds__` allows; `code_bytes` is the size
 * of the kernel's code.
 */
unsigned simt_launch_bound_threads(uintptr_t kernel, size_t code_bytes);

/** Finds the program's segments on the first call. Returns false if that fails. */
bool simt_program_find_segments(void);

/**
 * Finds the calling OS thread's shared memory: the thread-local block of the program, and the offset of the dynamic
 * array in it. Returns false if there is no such block.
 */
bool simt_find_shared_memory(uintptr_t *low, size_t *bytes, size_t *dynamic_offset);

struct shadow_cell;

/**
 * The memory that the running kernel may access and its shadows, which classify each access. Kept together in one or
 * two cache lines. Outside kernels every range is empty.
 */
struct kernel_memory_ranges {
    uintptr_t arena_begin;        /**< global memory allocated so far */
    size_t arena_fast_path_bytes; /**< bytes in use; 0 while accesses are watched, so that they take the slow path */
    struct shadow_cell *arena_shadow;
    uintptr_t shared_begin; /**< static shared memory and the dynamic array, in any order: one thread-local block */
    size_t shared_fast_path_bytes;
    struct shadow_cell *shared_shadow;
    /** Smallest range with shared memory and the threads' stacks: pointers to these. */
    uintptr_t shared_and_stacks_low;
    size_t shared_and_stacks_bytes;
    /** Offset of the dynamic array's first byte that this launch has not requested. */
    size_t dynamic_shared_requested_end;
    size_t dynamic_shared_array_end; /**< offset of the first byte after the dynamic array */
    size_t arena_bytes;
    size_t shared_bytes;
    struct shadow_cell *device_variables_shadow; /**< shadow of the __device__ variables */
    bool is_watched;
};

extern struct kernel_memory_ranges simt_memory;

/** Selects whether observers are notified of each lane's accesses, or only of warp-level requests. */
void simt_observe_each_lane_access(bool enable);

#endif
