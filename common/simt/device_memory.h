/** @file device_memory.h  Global memory, the variables in shared memory, and the shadow that both have. */
#ifndef SIMT_DEVICE_MEMORY_H
#define SIMT_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * What is remembered of a 4-byte word: the last write and who has read since. Where that is too little, see history.h.
 */
struct shadow_cell {
    uint32_t write_tick;
    uint32_t write; /**< thread, bytes, atomic, state, site */
    uint32_t read_tick;
    uint32_t read; /**< kind, set of threads, bytes, site */
};

enum {
    CELL_THREAD_SHIFT = 22,
    CELL_BYTES_SHIFT = 18,
    CELL_BYTES = 0xf << CELL_BYTES_SHIFT,

    /* State: global memory's bytes that may be off limits or unwritten, shared memory's that have been written. Of an
       atomic, the place of "bytes" says which kind: enum atomic_kind. */
    CELL_ATOMIC = 1 << 17,
    CELL_STATE_SHIFT = 13,
    CELL_STATE = 0xf << CELL_STATE_SHIFT,

    /* A read: all threads of the set read these bytes at its tick. */
    READ_SET_SHIFT = 17,
    READ_SET_BITS = 13,
    READ_BYTES_SHIFT = 13,

    SITE_BITS = 13,
    CELL_SITE = (1 << SITE_BITS) - 1,
};

#define TICK_NEVER UINT32_MAX

/* Kinds of a read. */
#define READ_LOST    (1u << 30) /**< whoever writes these bytes before the launch ends does so in a race */
#define READ_HISTORY (1u << 31) /**< there is a history of the word; its latest tick is the cell's */
#define READ_AUTHORS \
    (3u << 30) /**< no reads: all threads of the set have updated it by atomics; no bytes: READ_LOST as well */
#define READ_UNOWNED (3u << 30) /**< at a tick that never comes: no variable has the word, see shared_variables.c */
#define READ_COPIED  (READ_UNOWNED | 1) /**< at that tick: an asynchronous copy writes the word, see copies.c */

/** Which bytes of a word an atomic has, of how many; how far it reaches; whether it is a volatile store. */
enum atomic_kind {
    ATOMIC_4,
    ATOMIC_8,
    ATOMIC_LOW_2,
    ATOMIC_HIGH_2,
    ATOMIC_OF_BLOCKS = 4, /**< it has seen one of another block */
    ATOMIC_IN_BLOCK = 8,
    ATOMIC_STORE = 0x40,
    ATOMIC_1 = 0x80,
    ATOMIC_BYTES = 0x83
};

enum shadow_space { SPACE_GLOBAL, SPACE_SHARED };
enum shadow_access { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_VOLATILE_LOAD };

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
void simt_arena_forget_ticks(void);

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

/**
 * The heap that the kernels' own malloc() takes from: how large it may be. Its memory is no host's. NULL: it has no
 * more.
 */
extern size_t simt_heap_limit;
void *simt_heap_allocate(size_t bytes);
/** False: it is not the beginning of what that has given. */
bool simt_heap_release(const void *memory);

#endif
