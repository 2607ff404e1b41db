/**
 * @file device_memory.h
 * @brief The interface through which the rest of the simulator uses global memory, the variables in shared memory, and
 *        the shadows of both.
 */
#ifndef SIMT_DEVICE_MEMORY_H
#define SIMT_DEVICE_MEMORY_H

#include "order/shadow_cell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Makes the arena shared with processes that are forked later. Must be called before simt_arena_reserve_if_needed().
 */
void simt_arena_share_with_forks(void);

/** Reserves the arena and its shadow on the first call. Returns false if that fails. */
bool simt_arena_reserve_if_needed(void);
/**
 * Copies the current bounds of the arena to simt_memory and allows this process to access the arena until
 * simt_arena_forbid_access(). Returns false if out of memory.
 */
bool simt_arena_allow_access_and_update_bounds(void);
void simt_arena_forbid_access(void);
/** Returns whether simt_allow_host_access() lets the host access all device memory. */
bool simt_host_may_access_all_device_memory(void);
/**
 * Returns whether an access by the host reaches memory that the host may not access, although the access causes no
 * signal because pinned or managed memory is on the same page.
 */
bool simt_host_access_is_invalid_without_signal(const void *pointer, size_t bytes);

/**
 * Marks of the four bytes of a word in the arena, one bit per byte. For each marked byte, the corresponding bit in the
 * word's shadow cell is set as well (GLOBAL_WORD_MARKED_SHIFT).
 */
struct word_marks {
    uint32_t inaccessible_mask, unwritten_mask;
    uint32_t ldg_read_mask; /**< bytes that this launch has read through __ldg */
};
/** Returns the marks of the word at an address in the arena. */
struct word_marks simt_arena_word_marks(uintptr_t address);
/** Marks the bytes in a mask of the word at an address as read through __ldg. */
void simt_arena_mark_ldg_read(uintptr_t address, uint32_t byte_mask);
/** Clears the unwritten marks of the bytes in a mask of the word at an address. */
void simt_arena_clear_unwritten(uintptr_t address, uint32_t byte_mask);
/**
 * Returns whether the unwritten bytes of a word may be padding: other bytes of the word have been written or, if the
 * word is the second half of 8 aligned bytes, other bytes of these 8.
 */
bool simt_arena_unwritten_bytes_may_be_padding(uintptr_t address);
/**
 * Describes an address relative to the allocation that contains it, or to one that it precedes or follows. Returns
 * false if the address is not in the arena.
 */
bool simt_arena_describe_address(uintptr_t address, char *text, size_t size);
/**
 * Returns the address of the word, of the allocation that contains `address`, that is the nearest of those with written
 * bytes; returns 0 if there is none. Stores N in *written_prefix_bytes if exactly the first N bytes of the allocation
 * have been written, otherwise 0.
 */
uintptr_t simt_allocation_nearest_written_word(uintptr_t address, size_t *written_prefix_bytes);
/**
 * The last copy or memset to an allocation by the host; `call` is NULL if there was none. All writes by a call in a
 * loop, or by one that copies several rows, are one.
 */
struct host_write {
    const char *call; /**< name of the runtime call */
    uintptr_t call_site;
    size_t begin, end; /**< the bytes that it wrote, counted from the beginning of the allocation's array */
};
/**
 * Returns the last write by the host to the allocation that contains an unwritten byte if the bytes between its end and
 * the unwritten byte are unwritten, too. Otherwise returns a write whose `call` is NULL.
 */
struct host_write simt_host_write_before_unwritten(uintptr_t address);
/** Returns the call site that allocated the memory at an address, or 0 if it is an array with a name or freed. */
uintptr_t simt_arena_allocation_site_if_unnamed(uintptr_t address);
/**
 * Returns the call site that freed the memory at an address, or 0 if it has not been freed or has been allocated again,
 * or 1 if the call site is unknown.
 */
uintptr_t simt_arena_free_site(uintptr_t address);

/** Returns the number of words from the beginning of the arena to the highest end of any slot allocated so far. */
size_t simt_arena_high_water_words(void);

/** Clears the accesses that the shadow of the arena has recorded, but not which bytes are marked. */
void simt_arena_clear_recorded_accesses(void);

enum { ARRAY_TEXT_SIZE = 160 };
/**
 * Writes " of 'NAME' at byte 4 (of 128)": the name of the array at an address in shared (`shared`) or global memory,
 * and the offset of the address in it. Writes "" if the name is unknown.
 */
void simt_describe_position_in_array(uintptr_t address, bool shared, char text[ARRAY_TEXT_SIZE]);
/**
 * Stores the offsets in shared memory at which the variable at an offset, or the dynamic array, begins and ends. Both
 * are the offset itself if it is in neither.
 */
void simt_shared_array_bounds(size_t offset, size_t *begin, size_t *end);
/**
 * Returns the name that simt_register_array_bounds() gave the array at an address, or "". Stores the address's offset
 * in the array in *offset, and the array's size in *bytes.
 */
const char *simt_arena_array_name(uintptr_t address, size_t *offset, size_t *bytes);
/**
 * Writes advice on the pitch of an allocation of cudaMallocPitch(). Returns false if there is no such allocation.
 */
bool simt_arena_advise_on_pitch(char *text, size_t size);
/**
 * Returns " that begin" if `place`, a text about `num_bytes` bytes, begins with a number, as "4 bytes before 'x'" does.
 * The words separate that number from the count.
 */
const char *simt_words_between_count_and_number(const char *place, unsigned num_bytes);

/**
 * Returns the index, in address order, of the allocation that contains an offset in the arena. Stores the offset within
 * the allocation in *offset_in_allocation.
 */
int32_t simt_arena_allocation_index(uint64_t offset, uint64_t *offset_in_allocation);

/**
 * Ends the launch because the running thread accesses a word in which some bytes are inaccessible. `byte_mask` is the
 * mask of the accessed bytes of the word at `address`.
 */
_Noreturn void simt_fault_inaccessible(uintptr_t address, uint32_t byte_mask, bool write, uintptr_t pc);

/**
 * Finds the `__shared__` variables in `shared_bytes` of shared memory on the first call; `dynamic_offset` is the offset
 * of the dynamic array. Finds none if the program has no symbols.
 */
void simt_shared_variables_find_once(size_t shared_bytes, size_t dynamic_offset);
/** Properties of a kernel, from the program's symbols. */
struct kernel_properties {
    /** Size of its fixed-size __shared__ variables, excluding those of called functions. */
    size_t own_static_shared_bytes;
    unsigned max_threads_per_block; /**< the kernel's launch bounds */
    const char *name; /**< without template arguments; stays valid until many other kernels are looked up */
};
/** Returns a kernel's properties, or defaults if the program has no symbols. */
struct kernel_properties simt_kernel_properties(const void *kernel);
/**
 * Returns the total size in bytes of the fixed-size __shared__ variables that the last launch accessed, including those
 * of called functions. Returns 0 if all such variables of the program fit alongside `dynamic_shared_bytes` of dynamic
 * shared memory.
 */
size_t simt_accessed_static_bytes_or_0_if_all_fit(size_t dynamic_shared_bytes);
/** Returns the total size of all __constant__ variables in bytes. */
size_t simt_total_constant_bytes(void);
/**
 * Returns whether one variable in global or constant memory contains all these bytes. Returns true if the program has
 * no such variables.
 */
bool simt_device_variable_contains(uintptr_t address, size_t bytes);
/** Returns the name of the variable in global or constant memory at an address, or "?" if it is unknown. */
const char *simt_device_variable_name_at(uintptr_t address);

/** Returns whether the program has obtained the address of the device variable at `symbol_address`. */
bool simt_symbol_address_was_obtained(const void *symbol_address);
/**
 * Returns the name of the host variable at an address if the variable ends less than `bytes` bytes after the address,
 * otherwise NULL. Stores the number of bytes from the address to the end of the variable in *bytes_to_end.
 */
const char *simt_overrun_host_variable_name(uintptr_t address, size_t bytes, size_t *bytes_to_end);
/** Returns whether an address in read-only memory is that of a constant that a kernel file defines for the host. */
bool simt_is_host_only_constant(uintptr_t address);
/** Ends the launch because of an access to the program's data that no device variable contains. */
_Noreturn void simt_fault_outside_device_variables(uintptr_t address, unsigned num_bytes, bool store, uintptr_t pc);
/** Marks the words that belong to no variable in the shadow of shared memory. Marks none if no variables were found. */
void simt_shared_variables_mark_gaps(struct shadow_cell *shadow, size_t dynamic_offset);
/** Returns whether a word of shared memory belongs to no variable. */
bool simt_word_is_outside_shared_variables(const struct shadow_cell *cell);
/**
 * Ends the launch because of an access to a word of shared memory that belongs to no variable; `byte_mask` is the mask
 * of the accessed bytes.
 */
_Noreturn void simt_fault_outside_shared_variables(const struct shadow_cell *cell, uint32_t byte_mask,
                                                   enum access_type access, uintptr_t pc);

#endif
