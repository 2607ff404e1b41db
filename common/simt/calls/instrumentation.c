/**
 * @file instrumentation.c
 * @brief Hooks that the compiler's instrumentation calls for every load, store, basic block and call of a kernel file.
 *        They check and record the running lane's accesses.
 *
 * The hooks have the names that the thread sanitizer and the coverage sanitizer use, but no sanitizer runtime is
 * linked. Host code in kernel files calls these hooks as well; outside kernels the ranges in simt_memory are empty and
 * no lane runs.
 */
#include "device_calls.h"
#include "kernel_calls.h"
#include "lanes/observer.h"
#include "machine/errors.h"
#include "machine/fault.h"
#include "machine/host_accesses.h"
#include "machine/source_lines.h"
#include "memory/constant_reads.h"
#include "memory/arena.h"
#include "memory/shadow.h"
#include "warpgroup_products.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/*
 * An address outside global memory but within this distance of it may come from a bad index; host memory is farther
 * away.
 */
#define NEAR_ARENA   (UINT64_C(1) << 40)
#define NEAR_WRAPPED (UINT64_C(1) << 20)
/* An index of this many elements before the array is more likely a product that has overflowed than a small error. */
#define INT_OVERFLOWS (UINT64_C(1) << 30)
#define OVERFLOWED                                                                                                 \
    SIMT_ADVICE_PREFIX "compute the index in 64 bits, as in (size_t)row * pitch, if it is a product that exceeds " \
                       "an int; otherwise, compare the index with 0 and the number of elements before the access"
#define WRAPPED " (about 2^32 elements: is an unsigned index less than 0, or a 64-bit index too large?)"
/*
 * The corresponding distance for a lane's stack. Shared memory is within this distance as well, because the operating
 * system places mappings next to each other.
 */
#define NEAR_STACK (UINT64_C(1) << 43)
/* The corresponding distance for the program's segments, which may contain arrays of constants. */
#define NEAR_PROGRAM (UINT64_C(1) << 36)

ALWAYS_INLINE void record(uintptr_t pc, uint64_t access)
{
    struct lane *lane = simt_running.lane;
    struct lane_event *event = lane->next_event;

    event->position_key = lane->next_position_key++;
    event->packed_access = access;
    event->pc = pc;
    lane->next_event = event + 1;
    if (SIMT_UNLIKELY(event + 1 == lane->event_buffer_end))
        simt_lane_suspend();
}

ALWAYS_INLINE uint64_t access_of(enum event_kind kind, unsigned bytes, uint64_t offset)
{
    return (uint64_t)kind << EVENT_KIND_SHIFT | (uint64_t)bytes << EVENT_BYTES_SHIFT | offset;
}

/** Suspends the running lane now if recording its next event would suspend it. */
static void make_room_for_event(void)
{
    const struct lane *lane = simt_running.lane;

    if (lane->next_event + 1 == lane->event_buffer_end)
        simt_lane_suspend();
}

/** Notifies observers of an access that the running lane is about to make and will then record as an event. */
static void announce(const void *address, unsigned bytes, enum event_kind kind)
{
    make_room_for_event(); /* if record() suspended the lane, the store would be replayed before it is executed */
    NOTIFY_OBSERVERS(watched_lane_accesses, address, bytes, kind);
}

/**
 * Records an access as record() does, but first notifies observers if memory is watched. Intended for callers for which
 * the cost of this test is negligible.
 */
void simt_record_access_event(uintptr_t pc, const void *address, enum event_kind kind, unsigned bytes, uint64_t offset)
{
    if (simt_memory.is_watched)
        announce(address, bytes, kind);
    record(pc, access_of(kind, bytes, offset));
}

void simt_record_bulk_copy_event_if_watched(uintptr_t pc, uint64_t packed_source_offset, uint64_t bytes,
                                            uint64_t shared_offset)
{
    if (SIMT_LIKELY(!simt_memory.is_watched))
        return;
    make_room_for_event();
    NOTIFY_OBSERVERS(watched_lane_issues_bulk_copy, bytes, shared_offset);
    record(pc, access_of(EVENT_BULK_COPY, 0, packed_source_offset));
}

void simt_record_mbarrier_event_if_watched(uintptr_t pc, enum mbarrier_operation operation, uint64_t shared_offset,
                                           uint64_t operand, uint64_t phase)
{
    if (SIMT_LIKELY(!simt_memory.is_watched))
        return;
    make_room_for_event();
    NOTIFY_OBSERVERS(watched_lane_uses_mbarrier, operand, phase);
    record(pc, access_of(EVENT_MBARRIER, operation, shared_offset));
}

/** The properties of a memory access that follow from the hook called by the compiler. */
struct touch {
    enum access_type what;
    uint8_t kind;             /**< for an atomic: ATOMIC_BLOCK_SCOPE, ATOMIC_VOLATILE_STORE or 0 */
    bool reads_old_value;     /**< for an atomic: the old value is used */
    bool may_include_padding; /**< the access is part of an access of 8 bytes or more */
    bool is_uncounted;        /**< the access is only checked, because another hook records it */
};

ALWAYS_INLINE bool stores(struct touch touch)
{
    return touch.what == ACCESS_STORE || touch.what == ACCESS_ATOMIC;
}

ALWAYS_INLINE void shadow_word(struct shadow_cell *cell, struct word_access access)
{
    if (access.access_type == ACCESS_STORE || access.access_type == ACCESS_ATOMIC)
        shadow_check_store(cell, access);
    else
        shadow_check_load(cell, access);
}

/**
 * Checks every word of an access. `bytes` is a constant wherever this function is inlined. An aligned access of 4 bytes
 * or more consists of whole words.
 */
ALWAYS_INLINE void access_type(struct shadow_cell *shadow, uintptr_t base, uintptr_t address, unsigned bytes,
                               struct touch touch, uintptr_t pc, enum memory_space space)
{
    const uintptr_t offset = address - base;
    struct shadow_cell *cell = shadow + offset / 4;
    struct word_access access = {.address = address,
                                 .pc = pc,
                                 .pc_slot = pc_slot_find_or_add(pc),
                                 .byte_mask = 0xf,
                                 .atomic_size_and_flags = touch.kind,
                                 .reads_old_value = touch.reads_old_value,
                                 .may_include_padding = touch.may_include_padding || bytes >= 8,
                                 .access_type = touch.what,
                                 .space = space};

    if (touch.what == ACCESS_STORE)
        simt_launch_progress.num_polls_since_progress = 0;
    if (touch.what == ACCESS_LOAD)
        simt_running.lane->loads_since_poll_hash = simt_running.lane->loads_since_poll_hash * 31 + address;
    if (!stores(touch))
        simt_current_order.packed_last_load = touch.what == ACCESS_LOAD ? address << 5 | bytes : 0;
    if (bytes < 4) {
        access.address -= offset % 4;
        access.byte_mask = (uint8_t)(((1u << bytes) - 1) << offset % 4);
        access.atomic_size_and_flags |= bytes == 1   ? ATOMIC_1_BYTE
                                        : offset % 4 ? ATOMIC_HIGH_2_BYTES
                                                     : ATOMIC_LOW_2_BYTES;
        shadow_word(cell, access);
        return;
    }
    access.atomic_size_and_flags |= bytes == 4 ? ATOMIC_4_BYTES : ATOMIC_8_BYTES;
    for (unsigned word = 0; word < bytes / 4; word++) {
        shadow_word(cell + word, access);
        access.address += 4;
    }
}

static _Noreturn void fault_misaligned(uintptr_t address, unsigned bytes, enum access_type access, uintptr_t pc)
{
    const bool is_shared = address - simt_memory.shared_begin < simt_memory.shared_bytes;
    char of[ARRAY_TEXT_SIZE], advice[240] = "";

    simt_describe_position_in_array(address, is_shared, of);
    char byte[48] = "";
    const char *const at = strstr(of, " at byte ") ? byte : NULL;

    if (at)
        snprintf(byte, sizeof byte, "byte %zu", (size_t)strtoull(strstr(of, " at byte ") + 9, NULL, 10));
    if (is_shared && strstr(of, "dynamic shared memory"))
        snprintf(advice, sizeof advice,
                 SIMT_ADVICE_PREFIX "an offset in the extern __shared__ array that is a multiple of %u, and "
                                    "__align__(%u) before the array; or loads and stores of single elements",
                 bytes, bytes);
    else if (!is_shared && bytes == 16 && address % 16 == 8 && at)
        snprintf(advice, sizeof advice,
                 SIMT_ADVICE_PREFIX "a vector of 8 bytes (%.40s is a multiple of 8); or rows padded to a multiple of "
                                    "16 bytes, 4 floats; or loads and stores of single elements",
                 at);
    simt_fault_here(cudaErrorMisalignedAddress, pc, "misaligned address",
                    "%s %u bytes%s%s at an address that is not a multiple of %u (it ends in 0x%x)%s",
                    simt_access_verb(access), bytes, of, *of ? "," : "", bytes, (unsigned)(address & 0xff), advice);
}

_Noreturn void simt_fault_beyond_dynamic_shared(size_t offset, unsigned access_bytes, bool store, uintptr_t pc)
{
    const size_t dynamic = simt_current_launch.dynamic_shared_bytes;
    const size_t begin = simt_memory.dynamic_shared_requested_end - dynamic;
    char at[64] = "";

    if (offset >= begin)
        snprintf(at, sizeof at, " at byte %zu,", offset - begin);
    simt_fault_here(
        cudaErrorIllegalAddress, pc, "out-of-bounds shared access",
        "%s %u byte%s%s beyond the %zu dynamic byte%s of the launch" SIMT_PC_LOCATION_FORMAT SIMT_ADVICE_PREFIX
        "check the launch's third parameter, the size of extern __shared__ arrays in bytes: "
        "n * sizeof(element); or, if it is right, an index from 0 to the number of elements - 1",
        store ? "writes" : "reads", access_bytes, plural_ending(access_bytes), at, dynamic, plural_ending(dynamic),
        simt_current_launch.call_site);
}

/**
 * Reports a pointer to shared memory or to the running thread's local memory that another block has written. In the
 * simulator such a pointer refers to the running block's or thread's own memory; on a GPU it is invalid.
 */
static __attribute__((noinline)) void check_pointer(uintptr_t pointer, const struct shadow_cell *cell, uintptr_t pc)
{
    if (simt_is_epoch_of_running_block(cell->write_epoch))
        return;
    if (pointer - simt_memory.shared_begin < simt_memory.shared_bytes)
        simt_fault_here(
            cudaErrorIllegalAddress, pc, "pointer to another block's shared memory",
            "reads a pointer to shared memory that another block has written" SIMT_PC_LOCATION_FORMAT SIMT_ADVICE_PREFIX
            "global memory for data that several blocks use",
            simt_pc_in_slot(cell->packed_write & PC_SLOT_MASK));
    if (pointer - simt_running.lane->stack_low < fiber_stack_bytes)
        simt_fault_here(cudaErrorIllegalAddress, pc, "pointer to another thread's local memory",
                        "reads a pointer to local memory that %s has written" SIMT_PC_LOCATION_FORMAT SIMT_ADVICE_PREFIX
                        "global memory for data that several threads or launches use",
                        cell->write_epoch < simt_current_order.launch_begin_epoch ? "an earlier launch"
                                                                                  : "another block",
                        simt_pc_in_slot(cell->packed_write & PC_SLOT_MASK));
}

/** Checks 8 bytes that a thread has loaded from global memory, which may be a pointer that is not valid there. */
ALWAYS_INLINE void check_loaded(uintptr_t address, const struct shadow_cell *cell, uintptr_t pc)
{
    const uintptr_t pointer = *(const uintptr_t *)address;

    if (SIMT_UNLIKELY(pointer - simt_memory.shared_and_stacks_low < simt_memory.shared_and_stacks_bytes))
        check_pointer(pointer, cell, pc);
}

/** Checks and records an access to global or shared memory; returns false if the address is in neither. */
ALWAYS_INLINE bool access_ranges(uintptr_t address, unsigned bytes, struct touch touch, uintptr_t pc,
                                 size_t arena_bytes, size_t shared_bytes, bool watched)
{
    const bool store = stores(touch);
    const uintptr_t global = address - simt_memory.arena_begin;

    if (SIMT_LIKELY(global < arena_bytes)) {
        if (bytes > 1 && SIMT_UNLIKELY(global % bytes != 0))
            fault_misaligned(address, bytes, touch.what, pc);
        access_type(simt_memory.arena_shadow, simt_memory.arena_begin, address, bytes, touch, pc, SPACE_GLOBAL);
        if (bytes == sizeof(void *) && !store)
            check_loaded(address, simt_memory.arena_shadow + global / 4, pc);
        if (touch.is_uncounted)
            return true;
        if (watched)
            announce((const void *)address, bytes, store ? EVENT_GLOBAL_STORE : EVENT_GLOBAL_LOAD);
        record(pc, access_of(store ? EVENT_GLOBAL_STORE : EVENT_GLOBAL_LOAD, bytes, global));
        return true;
    }
    const uintptr_t shared = address - simt_memory.shared_begin;

    if (SIMT_LIKELY(shared < shared_bytes)) {
        if (bytes > 1 && SIMT_UNLIKELY(address % bytes != 0))
            fault_misaligned(address, bytes, touch.what, pc);
        if (SIMT_UNLIKELY(shared + bytes > simt_memory.dynamic_shared_requested_end &&
                          shared < simt_memory.dynamic_shared_array_end))
            simt_fault_beyond_dynamic_shared(shared, bytes, store, pc);
        access_type(simt_memory.shared_shadow, simt_memory.shared_begin, address, bytes, touch, pc, SPACE_SHARED);
        if (touch.is_uncounted)
            return true;
        if (watched)
            announce((const void *)address, bytes, store ? EVENT_SHARED_STORE : EVENT_SHARED_LOAD);
        record(pc, access_of(store ? EVENT_SHARED_STORE : EVENT_SHARED_LOAD, bytes, shared));
        return true;
    }
    return false;
}

/**
 * Checks an access to a variable outside the arena and shared memory. Ends the launch unless the access is within the
 * variable and aligned.
 */
static void check_variable(uintptr_t address, unsigned bytes, bool store, uintptr_t pc)
{
    if (!simt_device_variable_contains(address, bytes))
        simt_fault_outside_device_variables(address, bytes, store, pc);
    if (address % bytes != 0)
        fault_misaligned(address, bytes, store ? ACCESS_STORE : ACCESS_LOAD, pc);
}

/** Returns whether an address is in the local memory of one of the block's threads. */
static bool is_local(uintptr_t address)
{
    const struct fiber_stacks *stacks = &simt_running.block->stacks;

    return address - (uintptr_t)stacks->base < stacks->mapped_bytes;
}

/** Ends the launch if the stack has overflowed, that is, if the current frame is below the thread's stack. */
static void check_stack(const struct lane *lane, uintptr_t pc)
{
    if (SIMT_UNLIKELY((uintptr_t)__builtin_frame_address(0) < lane->stack_low))
        simt_fault_stack_overflow(pc);
}

static void check_before_shared(uintptr_t address, unsigned bytes, bool store, uintptr_t pc)
{
    if (simt_memory.shared_begin - address <= SHARED_BYTES_DEFAULT_LIMIT)
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address", "%s %u byte%s before the first shared variable",
                        store ? "writes" : "reads", bytes, plural_ending(bytes));
}

/**
 * Returns whether an access is about 2^32 elements past memory of `size` bytes, as happens if an unsigned index has
 * wrapped below 0 or the high half of a 64-bit index has been dropped. The element is assumed to be as large as the
 * access.
 */
static bool is_wrapped(uintptr_t address, unsigned bytes, uintptr_t begin, size_t size)
{
    return address - ((uintptr_t)bytes << 32) - begin + NEAR_WRAPPED < size + NEAR_WRAPPED;
}

static bool is_near(uintptr_t address, uintptr_t other, uintptr_t distance)
{
    return address - other + distance < 2 * distance;
}

static bool is_in_constant_table(uintptr_t address)
{
    return address - simt_program.read_only_constants_low <
           simt_program.read_only_constants_high - simt_program.read_only_constants_low;
}

static bool is_in_device_table(uintptr_t address)
{
    return address - simt_program.read_only_device_low <
           simt_program.read_only_device_high - simt_program.read_only_device_low;
}

void simt_fault_if_from_out_of_bounds_index(uintptr_t address, unsigned bytes, enum access_type access, uintptr_t pc)
{
    const uintptr_t meant = address + SIMT_OUT_OF_BOUNDS_DISPLACEMENT_BYTES;
    const uintptr_t shared = meant - simt_memory.shared_begin;
    const char *kind = "out-of-bounds local access";
    char of[ARRAY_TEXT_SIZE];

    if (!is_near(meant, simt_running.lane->stack_low, NEAR_STACK) &&
        !is_near(meant, simt_memory.arena_begin, NEAR_ARENA) && !is_near(meant, simt_program.low, NEAR_PROGRAM))
        return;
    check_before_shared(meant, bytes, access != ACCESS_LOAD, pc);
    if (shared < simt_memory.shared_bytes) {
        const struct shadow_cell *cell = &simt_memory.shared_shadow[shared / 4];

        if (simt_word_is_outside_shared_variables(cell))
            simt_fault_outside_shared_variables(cell, bytes < 4 ? ((1u << bytes) - 1) << meant % 4 : 0xf, access, pc);
        kind = "out-of-bounds shared access";
    } else if (meant - simt_memory.arena_begin < simt_memory.arena_bytes) {
        kind = "out-of-bounds global access";
    } else if (meant - simt_program.device_variables_low <
               simt_program.device_variables_high - simt_program.device_variables_low) {
        check_variable(meant, bytes, access != ACCESS_LOAD, pc);
        kind = "out-of-bounds global access";
    } else if (meant - simt_program.constant_low < simt_program.constant_high - simt_program.constant_low) {
        check_variable(meant, bytes, access != ACCESS_LOAD, pc);
        kind = "out-of-bounds constant access";
    } else if (is_in_constant_table(meant)) {
        kind = "out-of-bounds constant access";
    } else if (is_in_device_table(meant)) {
        kind = "out-of-bounds global access";
    }
    simt_describe_position_in_array(meant, shared < simt_memory.shared_bytes, of);
    simt_fault_here(cudaErrorIllegalAddress, pc, kind, "has an index outside its array or row%s", of);
}

static _Noreturn void fault_constant(uintptr_t address, unsigned bytes, uintptr_t pc)
{
    char of[ARRAY_TEXT_SIZE];

    simt_describe_position_in_array(address, false, of);
    simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                    "writes %u byte%s%s of __constant__ memory" SIMT_ADVICE_PREFIX
                    "cudaMemcpyToSymbol() by the host, or a __device__ variable",
                    bytes, plural_ending(bytes), of);
}

static _Noreturn void fault_read_only(unsigned bytes, uintptr_t pc)
{
    simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address", "writes %u byte%s of read-only memory", bytes,
                    plural_ending(bytes));
}

static _Noreturn void fault_host_constant(uintptr_t pc)
{
    simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                    "reads a constant of the host" SIMT_ADVICE_PREFIX
                    "__constant__ or __device__ before its type, or a copy to memory from cudaMalloc()");
}

/**
 * Returns whether a parameter of the running kernel, or a member of one, is a pointer to this address. Only the host
 * can have passed it.
 */
static bool is_parameter(uintptr_t address)
{
    const char *const arguments = simt_current_launch.arguments;

    for (size_t at = 0; at + sizeof address <= simt_current_launch.argument_bytes; at += sizeof address)
        if (memcmp(arguments + at, &address, sizeof address) == 0)
            return true;
    return false;
}

/**
 * Returns whether memory that a stream's host function uses may also be used by other code: global variables, local
 * variables of the function's callers, or memory that kernels may access. Any other memory may belong to the function
 * alone.
 */
static bool outlives_host_function(uintptr_t address)
{
    enum { STACK_BYTES = 8 << 20 };

    return address - simt_program.writable_low < simt_program.writable_high - simt_program.writable_low ||
           address - simt_host_function_caller_frame < STACK_BYTES || simt_is_pinned_or_managed((const void *)address);
}

/** Reports an access by the host that extends beyond an allocation of pinned or managed memory. */
static void check_host_bounds(uintptr_t address, size_t bytes, bool store, uintptr_t pc)
{
    char location[LOCATION_TEXT_SIZE];
    char where[160];

    if (!simt_host_access_is_invalid_without_signal((const void *)address, bytes) ||
        !simt_arena_describe_address(address, where, sizeof where))
        return;
    simt_format_source_line(pc, location);
    simt_fault_record_host_error(cudaErrorIllegalAddress,
                                 "%s: out-of-bounds host access: the host %s %zu byte%s %s" SIMT_ADVICE_PREFIX
                                 "compare the index with the number of elements",
                                 location, store ? "writes" : "reads", bytes, plural_ending(bytes), where);
    simt_set_error_blocking_launches(cudaErrorIllegalAddress);
    simt_reported_host_access_address = address;
}

/** Checks an access by the host, and records it if a stream's host function makes it. */
static void host_uses(uintptr_t address, size_t bytes, bool store, uintptr_t pc)
{
    simt_check_host_access_races(address, bytes, store, pc);
    if (simt_host_function_caller_frame && outlives_host_function(address))
        simt_work_record_host_memory_use(store ? USE_WRITE : USE_READ, address, bytes);
}

static void host_accesses(uintptr_t address, size_t bytes, bool store, uintptr_t pc)
{
    if (SIMT_UNLIKELY(simt_pending_work_uses_host_memory))
        host_uses(address, bytes, store, pc);
    if (SIMT_UNLIKELY(simt_has_pinned_or_managed_memory))
        check_host_bounds(address, bytes, store, pc);
}

/** Reports an access far before the first allocation or behind the last. */
static _Noreturn void fault_far_from_allocations(uintptr_t address, unsigned bytes, bool store, uintptr_t pc)
{
    const bool before = address < simt_memory.arena_begin;
    const uintptr_t distance = before ? simt_memory.arena_begin - address
                                      : address - simt_memory.arena_begin - simt_memory.arena_bytes;
    const char *advice = "";
    char of_pitch[300];

    if (before && distance / bytes >= INT_OVERFLOWS)
        advice = OVERFLOWED;
    else if (is_wrapped(address, bytes, simt_memory.arena_begin, simt_memory.arena_bytes))
        advice = WRAPPED;
    else if (simt_arena_advise_on_pitch(of_pitch, sizeof of_pitch))
        advice = of_pitch;
    simt_fault_here(cudaErrorIllegalAddress, pc, "out-of-bounds global access",
                    "%s %u byte%s far from every allocation: %" PRIuPTR " byte%s %s%s", store ? "writes" : "reads",
                    bytes, plural_ending(bytes), distance, plural_ending(distance),
                    before ? "before the first" : "behind the last", advice);
}

/**
 * Checks an access outside the arena and shared memory: to a fiber's stack, to the program's segments, or to an invalid
 * address.
 */
static __attribute__((noinline)) void access_elsewhere(uintptr_t address, unsigned bytes, struct touch touch,
                                                       uintptr_t pc)
{
    const bool store = stores(touch);
    const struct lane *lane = simt_running.lane;
    const struct program_image *image = &simt_program;

    if (SIMT_UNLIKELY(simt_memory.is_watched) &&
        access_ranges(address, bytes, touch, pc, simt_memory.arena_bytes, simt_memory.shared_bytes, true))
        return;

    if (!lane) {
        host_accesses(address, bytes, store, pc);
        if (address - image->constant_low < image->constant_high - image->constant_low ||
            address - image->device_variables_low < image->device_variables_high - image->device_variables_low)
            simt_reject_host_access_to_variable(simt_device_variable_name_at(address), store, pc);
        return;
    }
    if (address - image->builtin_low < image->builtin_high - image->builtin_low)
        return;
    if (is_local(address)) {
        if (touch.what == ACCESS_ATOMIC && !(touch.kind & ATOMIC_VOLATILE_STORE))
            simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                            "updates atomically %u byte%s of local memory, which is its own" SIMT_ADVICE_PREFIX
                            "a plain load and store",
                            bytes, plural_ending(bytes));
        check_stack(lane, pc); /* alloca() may have moved the frame */
        if (address - lane->stack_low >= fiber_stack_bytes)
            simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                            "%s %u byte%s of local memory of another thread" SIMT_ADVICE_PREFIX
                            "shared memory, or a shuffle",
                            store ? "writes" : "reads", bytes, plural_ending(bytes));
        if (address % bytes != 0)
            fault_misaligned(address, bytes, touch.what, pc);
        if (SIMT_UNLIKELY(simt_running.warp->wgmma_products))
            simt_products_check_sum_access(address, bytes, store, pc);
        return;
    }
    if (address - image->constant_low < image->constant_high - image->constant_low) {
        if (store)
            fault_constant(address, bytes, pc);
        check_variable(address, bytes, store, pc);
        simt_record_constant_read(address, bytes, pc);
        return;
    }
    if (address - image->device_variables_low < image->device_variables_high - image->device_variables_low) {
        check_variable(address, bytes, store, pc);
        access_type(simt_memory.device_variables_shadow, image->device_variables_low, address, bytes, touch, pc,
                    SPACE_GLOBAL);
        if (bytes == sizeof(void *) && !store)
            check_loaded(address, simt_memory.device_variables_shadow + (address - image->device_variables_low) / 4,
                         pc);
        if (!touch.is_uncounted)
            simt_record_access_event(pc, (const void *)address, store ? EVENT_GLOBAL_STORE : EVENT_GLOBAL_LOAD, bytes,
                                     (address - image->device_variables_low) | EVENT_OFFSET_IN_PROGRAM_DATA);
        return;
    }
    if (is_in_constant_table(address) || is_in_device_table(address)) {
        if (store && is_in_constant_table(address))
            fault_constant(address, bytes, pc);
        if (store)
            fault_read_only(bytes, pc);
        check_variable(address, bytes, store, pc);
        return;
    }
    if (address - image->writable_low < image->writable_high - image->writable_low &&
        !(address - image->relocated_low < image->relocated_high - image->relocated_low && !store))
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                        "%s %u byte%s of a variable of the host" SIMT_ADVICE_PREFIX
                        "a parameter, a copy to memory from cudaMalloc(), or a __device__ variable",
                        store ? "writes" : "reads", bytes, plural_ending(bytes));
    if (address - image->low < image->high - image->low) {
        if (store)
            fault_read_only(bytes, pc);
        if (simt_is_host_only_constant(address) || is_parameter(address))
            fault_host_constant(pc);
        if (address % bytes != 0)
            fault_misaligned(address, bytes, touch.what, pc);
        return;
    }
    simt_fault_if_from_out_of_bounds_index(address, bytes, touch.what, pc);
    if (!store && address - (uintptr_t)simt_current_launch.arguments < simt_current_launch.argument_bytes) {
        if (address % bytes != 0)
            fault_misaligned(address, bytes, touch.what, pc);
        return;
    }
    check_before_shared(address, bytes, store, pc);
    if (address < 4096)
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                        "%s %u byte%s through a null pointer (address 0x%" PRIxPTR ")" SIMT_ADVICE_PREFIX
                        "pass memory from cudaMalloc(), and check what cudaMalloc() or the kernel's malloc() returned",
                        store ? "writes" : "reads", bytes, plural_ending(bytes), address);
    if (address - simt_memory.arena_begin + NEAR_ARENA < 2 * NEAR_ARENA)
        fault_far_from_allocations(address, bytes, store, pc);
    if (is_wrapped(address, bytes, simt_memory.shared_begin, simt_memory.shared_bytes))
        simt_fault_here(cudaErrorIllegalAddress, pc, "out-of-bounds shared access",
                        "%s %u byte%s far from every shared variable" WRAPPED, store ? "writes" : "reads", bytes,
                        plural_ending(bytes));
    simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                    "%s %u byte%s at an address that is not device memory (a host pointer?)" SIMT_ADVICE_PREFIX
                    "pass memory from cudaMalloc(), and cudaMemcpy() to it; cudaMemcpy() of a structure does not "
                    "convert the pointers in it: copy what each points to as well, and store the device pointer there",
                    store ? "writes" : "reads", bytes, plural_ending(bytes));
}

/**
 * Returns whether an aligned address is on the lane's own stack, in which case a non-atomic access need not call
 * access_elsewhere(). Returns false while sums of pending products may be on that stack.
 */
ALWAYS_INLINE bool is_own(uintptr_t address, unsigned bytes)
{
    const struct lane *lane = simt_running.lane;

    return lane && address - lane->stack_low < fiber_stack_bytes && address % bytes == 0 &&
           !simt_running.warp->wgmma_products;
}

ALWAYS_INLINE void touch_memory(const void *pointer, unsigned bytes, struct touch touch, uintptr_t pc)
{
    const uintptr_t address = (uintptr_t)pointer;

    if (!access_ranges(address, bytes, touch, pc, simt_memory.arena_fast_path_bytes, simt_memory.shared_fast_path_bytes,
                       false) &&
        (touch.what == ACCESS_ATOMIC || !is_own(address, bytes)))
        access_elsewhere(address, bytes, touch, pc);
}

ALWAYS_INLINE void access_memory(const void *pointer, unsigned bytes, bool store, uintptr_t pc)
{
    touch_memory(pointer, bytes, (struct touch){.what = store ? ACCESS_STORE : ACCESS_LOAD}, pc);
}

/** Returns the shadow of a word in global or shared memory, or NULL if the address is in neither. */
static struct shadow_cell *cell_at(uintptr_t address)
{
    const uintptr_t global = address - simt_memory.arena_begin;
    const uintptr_t shared = address - simt_memory.shared_begin;
    const uintptr_t data = address - simt_program.device_variables_low;

    if (global < simt_memory.arena_bytes)
        return simt_memory.arena_shadow + global / 4;
    if (shared < simt_memory.shared_bytes)
        return simt_memory.shared_shadow + shared / 4;
    return data < simt_program.device_variables_high - simt_program.device_variables_low
               ? simt_memory.device_variables_shadow + data / 4
               : NULL;
}

/** Address that the launch's last poll read, and the poll's call site. */
static uintptr_t last_polled, last_poll_pc;
/** Number of polls since the last progress that read another address than the lane's poll before. */
static uint64_t num_moved_polls;

void simt_describe_last_polled_word(char text[ARRAY_TEXT_SIZE])
{
    simt_describe_position_in_array(last_polled, last_polled - simt_memory.shared_begin < simt_memory.shared_bytes,
                                    text);
}

void simt_describe_writes_near_last_poll(char *text)
{
    simt_describe_writes_near_poll(last_polled, last_polled - simt_memory.shared_begin < simt_memory.shared_bytes,
                                   last_poll_pc, text);
}

bool simt_polls_read_several_addresses(void)
{
    enum { FEW = 16 };

    return num_moved_polls > simt_launch_progress.num_polls_since_progress / FEW;
}

void simt_record_possible_poll(const void *address, bool is_atomic, uintptr_t pc)
{
    const struct shadow_cell *cell = cell_at((uintptr_t)address);

    struct lane *const lane = simt_running.lane;

    if (lane->loads_since_poll_hash !=
        lane->loads_hash_at_poll) /* the lane's loads since its last poll differ from those before it */
        simt_launch_progress.num_polls_since_progress = 0;
    if (simt_launch_progress.num_polls_since_progress == 0)
        num_moved_polls = 0;
    num_moved_polls += lane->last_polled_address != (uintptr_t)address;
    lane->last_polled_address = (uintptr_t)address;
    lane->loads_hash_at_poll = lane->loads_since_poll_hash;
    lane->loads_since_poll_hash = 0;
    lane->num_polls++;
    simt_launch_progress.num_polls++;
    simt_launch_progress.num_polls_since_progress++;
    last_polled = (uintptr_t)address;
    last_poll_pc = pc;
    if (cell)
        simt_last_polls[simt_current_order.packed_thread >> WRITE_THREAD_SHIFT] = (struct last_poll){
            .epoch = simt_current_order.epoch,
            .write_epoch = cell->write_epoch,
            .packed_write = cell->packed_write,
            .is_atomic = is_atomic,
            .pc = pc};
}

/** Handles a volatile access: loads count as atomic, as do stores by a thread that has executed a fence. */
static void access_volatile(const void *pointer, unsigned bytes, bool store, uintptr_t pc)
{
    struct touch touch = {.what = store ? ACCESS_STORE : ACCESS_VOLATILE_LOAD};

    if (!simt_running.lane) {
        access_elsewhere((uintptr_t)pointer, bytes, touch, pc);
        return;
    }
    if (store && simt_order_running_thread_follows_fence()) {
        touch.what = ACCESS_ATOMIC;
        touch.kind = ATOMIC_VOLATILE_STORE;
    }
    if (store)
        simt_launch_progress.num_polls_since_progress = 0;
    else
        simt_record_possible_poll(pointer, false, pc);
    touch_memory(pointer, bytes, touch, pc);
    if (touch.what != ACCESS_STORE)
        simt_order_record_strong_access((uintptr_t)pointer, bytes, store, !store);
}

/**
 * Handles an access of any size and alignment word by word, as a GPU compiler would split it. An access that is not
 * `counted` is only checked.
 */
static void touch_parts(const void *pointer, size_t bytes, bool store, bool counted, uintptr_t pc)
{
    const unsigned char *at = pointer;
    const size_t most_events = bytes / 4 + bytes % 4 + 6;
    const struct touch touch = {
        .what = store ? ACCESS_STORE : ACCESS_LOAD, .may_include_padding = bytes >= 8, .is_uncounted = !counted};
    struct lane *lane = simt_running.lane;

    if (!lane) {
        host_accesses((uintptr_t)pointer, bytes, store, pc);
        return;
    }
    lane->access_exceeds_event_buffer = most_events >= LANE_EVENT_CAPACITY / 2;
    if (simt_memory.is_watched && !lane->access_exceeds_event_buffer &&
        (size_t)(lane->event_buffer_end - lane->next_event) <= most_events + 1)
        simt_lane_suspend();
    while (bytes > 0) {
        const unsigned part = bytes >= 4 && (uintptr_t)at % 4 == 0 ? 4 : bytes >= 2 && (uintptr_t)at % 2 == 0 ? 2 : 1;

        touch_memory(at, part, touch, pc);
        at += part;
        bytes -= part;
    }
    lane->access_exceeds_event_buffer = false;
}

static void access_parts(const void *pointer, size_t bytes, bool store, uintptr_t pc)
{
    touch_parts(pointer, bytes, store, true, pc);
}

/** Checks an atomic of a word. The atomic of a pair is checked as two atomics, one for each element. */
static void touch_elements(struct shadow_cell *shadow, uintptr_t base, uintptr_t address, unsigned bytes,
                           unsigned element, struct touch touch, uintptr_t pc, enum memory_space space)
{
    for (unsigned part = 0; part < bytes; part += element)
        access_type(shadow, base, address + part, element, touch, pc, space);
}

void simt_check_and_record_atomic(const void *pointer, unsigned bytes, unsigned element_bytes, bool in_block,
                                  bool reads_old_value, uintptr_t pc)
{
    const uintptr_t address = (uintptr_t)pointer;
    const uintptr_t global = address - simt_memory.arena_begin;
    const uintptr_t shared = address - simt_memory.shared_begin;
    const uintptr_t data = address - simt_program.device_variables_low;
    const struct touch touch = {
        .what = ACCESS_ATOMIC, .kind = in_block ? ATOMIC_BLOCK_SCOPE : 0, .reads_old_value = reads_old_value};

    if (!simt_running.lane)
        return;
    if (address % bytes != 0)
        fault_misaligned(address, bytes, ACCESS_ATOMIC, pc);
    if (global < simt_memory.arena_bytes) {
        touch_elements(simt_memory.arena_shadow, simt_memory.arena_begin, address, bytes, element_bytes, touch, pc,
                       SPACE_GLOBAL);
        simt_record_access_event(pc, pointer, EVENT_GLOBAL_ATOMIC, bytes, global);
    } else if (shared < simt_memory.shared_bytes) {
        if (shared + bytes > simt_memory.dynamic_shared_requested_end && shared < simt_memory.dynamic_shared_array_end)
            simt_fault_beyond_dynamic_shared(shared, bytes, true, pc);
        touch_elements(simt_memory.shared_shadow, simt_memory.shared_begin, address, bytes, element_bytes, touch, pc,
                       SPACE_SHARED);
        simt_record_access_event(pc, pointer, EVENT_SHARED_ATOMIC, bytes, shared);
    } else if (data < simt_program.device_variables_high - simt_program.device_variables_low) {
        check_variable(address, bytes, true, pc);
        touch_elements(simt_memory.device_variables_shadow, simt_program.device_variables_low, address, bytes,
                       element_bytes, touch, pc, SPACE_GLOBAL);
        simt_record_access_event(pc, pointer, EVENT_GLOBAL_ATOMIC, bytes, data | EVENT_OFFSET_IN_PROGRAM_DATA);
    } else {
        access_elsewhere(address, bytes, touch, pc);
    }
}

void simt_check_and_record_ldmatrix_row(const void *row, uintptr_t pc)
{
    if ((uintptr_t)row - simt_memory.shared_begin >= simt_memory.shared_bytes)
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                        "loads a row of a matrix from memory that is not shared");
    access_memory(row, 16, false, pc);
}

void simt_exempt_load_before_cas_from_races(const void *cas_pointer, unsigned bytes)
{
    const uintptr_t address = (uintptr_t)cas_pointer;
    const uintptr_t global = address - simt_memory.arena_begin;
    const uintptr_t shared = address - simt_memory.shared_begin;

    if (!simt_running.lane || simt_current_order.packed_last_load != (address << 5 | bytes) || address % bytes != 0)
        return;
    if (global < simt_memory.arena_bytes)
        simt_deferred_race_drop_for_cas(simt_memory.arena_shadow + global / 4, SPACE_GLOBAL, bytes);
    else if (shared < simt_memory.shared_bytes)
        simt_deferred_race_drop_for_cas(simt_memory.shared_shadow + shared / 4, SPACE_SHARED, bytes);
    else if (simt_device_variable_contains(address, bytes) &&
             address - simt_program.device_variables_low <
                 simt_program.device_variables_high - simt_program.device_variables_low)
        simt_deferred_race_drop_for_cas(simt_memory.device_variables_shadow +
                                            (address - simt_program.device_variables_low) / 4,
                                        SPACE_GLOBAL, bytes);
}

/** Reports an address in shared or local memory that a kernel thread passes to a function for global memory. */
static void check_global(uintptr_t address, const char *function, uintptr_t pc)
{
    const bool is_shared = address - simt_memory.shared_begin < simt_memory.shared_bytes;

    if (is_shared || is_local(address))
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                        "uses %s by %s, which is for global memory" SIMT_ADVICE_PREFIX "a plain load or store",
                        is_shared ? "shared memory" : "a local variable or a parameter", function);
}

void simt_check_global_pointer(const void *pointer, const char *function)
{
    if (simt_running.lane)
        check_global((uintptr_t)pointer, function, SIMT_RETURN_ADDRESS());
}

void simt_check_ldg_bytes_read_only(const void *pointer, unsigned bytes)
{
    const uintptr_t address = (uintptr_t)pointer;
    const uintptr_t pc = SIMT_RETURN_ADDRESS();
    const struct shadow_cell *const cell = cell_at(address);

    if (!simt_running.lane)
        return;
    check_global(address, "__ldg()", pc);
    for (unsigned word = 0; cell && word < (bytes + 3) / 4; word++)
        simt_check_and_record_ldg_load(
            cell + word,
            (struct word_access){.address = (address & ~(uintptr_t)3) + 4 * word,
                                 .pc = pc,
                                 .byte_mask = bytes < 4 ? (uint8_t)(((1u << bytes) - 1) << address % 4) : 0xf,
                                 .access_type = ACCESS_LOAD,
                                 .space = SPACE_GLOBAL});
}

void simt_check_memcpy_or_memset_range(const void *pointer, size_t bytes, int store)
{
    if (simt_running.lane)
        access_parts(pointer, bytes, store, SIMT_RETURN_ADDRESS());
    else
        host_accesses((uintptr_t)pointer, bytes, store, SIMT_RETURN_ADDRESS());
}

void simt_check_struct_argument_load(const void *pointer, size_t bytes)
{
    if (simt_running.lane)
        touch_parts(pointer, bytes, false, false, SIMT_RETURN_ADDRESS());
}

void simt_check_no_overlap(const void *destination, const void *source, size_t bytes)
{
    const bool behind = (uintptr_t)destination > (uintptr_t)source;
    const uintptr_t distance = behind ? (uintptr_t)destination - (uintptr_t)source
                                      : (uintptr_t)source - (uintptr_t)destination;

    if (simt_running.lane && distance != 0 && distance < bytes)
        simt_fault_here(cudaErrorIllegalAddress, SIMT_RETURN_ADDRESS(), "overlapping copy",
                        "calls memcpy() with a destination that begins %zu bytes %s the source, so the two overlap by "
                        "%zu bytes" SIMT_ADVICE_PREFIX "memmove()",
                        (size_t)distance, behind ? "after" : "before", bytes - (size_t)distance);
}

/* --- hooks that compilers insert ---------------------------------------------------------------------------------- */

void __tsan_init(void)
{
}

void __tsan_func_entry(void *call_site)
{
    struct lane *lane = simt_running.lane;

    if (!lane)
        return;
    check_stack(lane, SIMT_RETURN_ADDRESS());
    lane->calls_left -= KEY_CALLS_LEFT_UNIT;
    simt_running.block->call_sites[lane->thread][(lane->calls_left >> KEY_CALLS_LEFT_SHIFT) % MAX_CALL_SITES] =
        (uintptr_t)call_site;
}

void __tsan_func_exit(void)
{
    if (simt_running.lane)
        simt_running.lane->calls_left += KEY_CALLS_LEFT_UNIT;
}

void simt_fault_if_kernel_calls_host_function(const char *name)
{
    if (simt_running.lane)
        simt_fault_at_line_of_call(SIMT_RETURN_ADDRESS(), "call of a host function",
                                   "calls %s(), which is a function of the host", name);
}

int simt_is_in_kernel(void)
{
    return simt_running.lane != NULL;
}

void simt_fault_if_kernel_reads_host_constant(void)
{
    if (simt_running.lane)
        fault_host_constant(SIMT_RETURN_ADDRESS());
}

/* --- hooks of the rewriter's marks -------------------------------------------------------------------------------- */

void simt_basic_block_begins(unsigned mark_number)
{
    struct lane *lane = simt_running.lane;

    if (!lane)
        return;
    lane->next_position_key = (lane->next_position_key & KEY_CALLS_LEFT_MASK) | (uint64_t)mark_number
                                                                                    << KEY_BASIC_BLOCK_SHIFT;
    record(SIMT_RETURN_ADDRESS(), access_of(EVENT_BASIC_BLOCK, 0, 0));
}

uint64_t simt_call_begins(unsigned mark_number)
{
    struct lane *lane = simt_running.lane;

    if (!lane)
        return 0;
    const uint64_t saved_position_key = lane->next_position_key;

    lane->next_position_key = ((saved_position_key & KEY_CALLS_LEFT_MASK) - KEY_CALLS_LEFT_UNIT) |
                              (uint64_t)mark_number << KEY_BASIC_BLOCK_SHIFT;
    return saved_position_key;
}

void simt_call_ends(uint64_t saved_position_key)
{
    if (simt_running.lane)
        simt_running.lane->next_position_key = saved_position_key;
}

/**
 * Handles an access of 16 bytes. Gcc also calls this hook for structures that are aligned to 8 bytes, so an address
 * that is a multiple of 8 is not a fault; vectors check their addresses themselves.
 */
ALWAYS_INLINE void access_16(const void *pointer, unsigned bytes, bool store, uintptr_t pc)
{
    if (SIMT_LIKELY((uintptr_t)pointer % 16 != 8)) {
        access_memory(pointer, bytes, store, pc);
    } else {
        access_memory(pointer, 8, store, pc);
        access_memory((const char *)pointer + 8, 8, store, pc);
    }
}

void simt_fault_misaligned_vector(const void *vector, int store)
{
    if (simt_running.lane)
        fault_misaligned((uintptr_t)vector, 16, store ? ACCESS_STORE : ACCESS_LOAD, SIMT_RETURN_ADDRESS());
}

#define HOOKS(kind, bytes, access)                            \
    void __tsan_##kind##read##bytes(void *address)            \
    {                                                         \
        access(address, bytes, false, SIMT_RETURN_ADDRESS()); \
    }                                                         \
    void __tsan_##kind##write##bytes(void *address)           \
    {                                                         \
        access(address, bytes, true, SIMT_RETURN_ADDRESS());  \
    }

#define HOOKS_FROM_2(kind, access) \
    HOOKS(kind, 2, access) HOOKS(kind, 4, access) HOOKS(kind, 8, access) HOOKS(kind, 16, access)

HOOKS(, 1, access_memory)
HOOKS(, 2, access_memory)
HOOKS(, 4, access_memory)
HOOKS(, 8, access_memory)
HOOKS(, 16, access_16)
HOOKS(volatile_, 1, access_volatile)
HOOKS_FROM_2(volatile_, access_volatile)
HOOKS_FROM_2(unaligned_, access_parts)
/* A GPU needs several instructions for an unaligned access, so an unaligned volatile access is not atomic. */
HOOKS_FROM_2(unaligned_volatile_, access_parts)

void __tsan_read_range(void *address, size_t bytes)
{
    access_parts(address, bytes, false, SIMT_RETURN_ADDRESS());
}

void __tsan_write_range(void *address, size_t bytes)
{
    access_parts(address, bytes, true, SIMT_RETURN_ADDRESS());
}

/* Hooks for accesses to an object's vtable pointer. */
void __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    access_memory(address, sizeof *address, true, SIMT_RETURN_ADDRESS());
}

void __tsan_vptr_read(void **address)
{
    access_memory(address, sizeof *address, false, SIMT_RETURN_ADDRESS());
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    access_parts(from, bytes, false, SIMT_RETURN_ADDRESS());
    access_parts(to, bytes, true, SIMT_RETURN_ADDRESS());
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    access_parts(from, bytes, false, SIMT_RETURN_ADDRESS());
    access_parts(to, bytes, true, SIMT_RETURN_ADDRESS());
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes)
{
    access_parts(to, bytes, true, SIMT_RETURN_ADDRESS());
    return memset(to, value, bytes);
}
