/** @file device_memory.h  Global memory, the variables in shared memory, and the shadow that both have. */
#ifndef SIMT_DEVICE_MEMORY_H
#define SIMT_DEVICE_MEMORY_H

#include "order/shadow_cell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Before simt_arena_reserve(): the arena will be shared with processes that are forked. */
void simt_arena_share(void);

/** Reserves the arena and its shadow, once. */
bool simt_arena_reserve(void);
/**
 * Puts the arena as it is now into the ranges, and lets this process touch it; false: no memory. Until it is closed.
 */
bool simt_arena_open(void);
void simt_arena_close(void);

/** Of the four bytes of a word in the arena: for each that is anything of this the word's state has a bit set too. */
struct word_marks {
    uint32_t off_limits, unwritten;
    uint32_t read_only; /**< this launch has read them by __ldg */
};
struct word_marks simt_arena_marks(uintptr_t address);
void simt_arena_read_only(uintptr_t address, uint32_t bytes);
/** Bytes of the word have been written. */
void simt_arena_written(uintptr_t address, uint32_t bytes);
/** Whether what is unwritten in the word may be padding. */
bool simt_arena_may_be_padding(uintptr_t address);
/** Which allocation an address is in, before or behind, in a few words; false: it is not in the arena. */
bool simt_arena_describe(uintptr_t address, char *text, size_t size);

/** How many words the arena has that have ever been handed out. */
size_t simt_arena_words(void);

/** Forgets who touched what, but not what is off limits. */
void simt_arena_forget_epochs(void);

/** The number of the allocation that holds an offset in the arena, in the order of addresses, and the offset in it. */
int32_t simt_arena_allocation(uint64_t offset, uint64_t *inside);

/**
 * Ends the launch: the running thread touches `bytes` of the four of the word at `address`, some of them off limits.
 */
_Noreturn void simt_fault_forbidden(uintptr_t address, uint32_t bytes, bool write, uintptr_t pc);

/** Finds the `__shared__` variables, once, in `bytes` of shared memory. None if the program has no symbols. */
void simt_shared_variables_find(size_t bytes, size_t dynamic);
/** What the program's symbols tell of a kernel: its own __shared__ variables of fixed size, and its launch bounds. */
struct kernel_limits {
    size_t static_shared;
    unsigned threads;
};
struct kernel_limits simt_kernel_limits(const void *kernel);
/**
 * The bytes of the __shared__ variables of fixed size that the last launch has touched, its functions' too; 0 if all
 * that there are fit beside so many bytes of dynamic ones.
 */
size_t simt_static_shared_used(size_t dynamic_bytes);
/** The bytes of all __constant__ variables. */
size_t simt_constant_bytes(void);
/** Whether a variable in global or constant memory has all these bytes; if none was found, it has. */
bool simt_variable_has(uintptr_t address, size_t bytes);
/** Its name; "?" if nobody knows it. */
const char *simt_variable_at(uintptr_t address);
_Noreturn void simt_fault_no_variable(uintptr_t address, unsigned bytes, bool store, uintptr_t pc);
/** Marks in the shadow of shared memory the words that no variable has; if no variables were found, none. */
void simt_shared_variables_mark(struct shadow_cell *shadow, size_t dynamic);
bool simt_is_unowned(const struct shadow_cell *cell);
_Noreturn void simt_fault_unowned(const struct shadow_cell *cell, uint32_t bytes, enum shadow_access access,
                                  uintptr_t pc);

#endif
