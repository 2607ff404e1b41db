/**
 * @file copies.c
 * @brief Asynchronous copies from global to shared memory, in flight from their issue until their thread has waited for
 *        them. Kernels call them through device_calls.h. mbarriers.c handles the copies whose completion an mbarrier
 *        tracks.
 *
 * The bytes may arrive at any time between issue and wait. Therefore the destination words are marked at issue, and no
 * thread may access them before the wait (shadow.c). The source must not change during that time either, so the wait
 * checks that the last write to each source word is the one that was recorded at issue. Only then does the wait copy
 * the bytes. The copy's accesses count as accesses by its thread at the wait, and are ordered relative to those of
 * other threads accordingly.
 */
#include "device_calls.h"
#include "kernel_calls.h"
#include "machine/fault.h"
#include "machine/array_reserve.h"
#include "memory/shadow.h"

#include <string.h>

enum { COPY_WORDS = 4 };

struct copy {
    unsigned char *to;
    const unsigned char *from;
    struct shadow_cell *to_cells;
    struct shadow_cell *from_cells; /**< NULL if the copy writes only zeros */
    uintptr_t pc;
    uint32_t next;  /**< the thread's next copy in flight, or the next free copy */
    uint32_t group; /**< number of groups that the thread had committed before this copy */
    uint8_t bytes;
    uint8_t from_bytes; /**< number of bytes read from the source; the rest of the destination is zero-filled */
    struct stamp {
        uint32_t epoch, write;
    } source[COPY_WORDS]; /**< the last write to each source word */
};

static struct copy *copies; /**< indexed by number; number 0 means no copy */
static size_t copy_room;
static uint32_t copy_count, free_copy;
static uint32_t under_way;

/* --- storage ------------------------------------------------------------------------------------------------------ */

/** Allocates a copy and returns its number; returns 0 if out of memory. */
static uint32_t take_copy(void)
{
    const uint32_t free_one = free_copy;

    if (free_one) {
        free_copy = copies[free_one].next;
        under_way++;
        return free_one;
    }
    if (!simt_array_reserve(&copies, &copy_room, (size_t)copy_count + 2, sizeof *copies))
        return 0;
    under_way++;
    return ++copy_count;
}

/** Frees a copy and returns the number of the next one in its list. */
static uint32_t drop(uint32_t number)
{
    const uint32_t next = copies[number].next;

    copies[number].next = free_copy;
    free_copy = number;
    under_way--;
    return next;
}

/** Removes the first of a thread's copies in flight. */
static void drop_first(struct lane *lane)
{
    lane->first_async_copy = drop(lane->first_async_copy);
    if (lane->first_async_copy == 0)
        lane->last_async_copy = 0;
}

/* --- memory accesses of a copy ------------------------------------------------------------------------------------ */

/** Returns a mask of the bytes in word `word` that belong to the first `bytes` bytes of a copy. */
static uint8_t bytes_of_word(unsigned bytes, unsigned word)
{
    const unsigned rest = bytes - 4 * word;

    return rest >= 4 ? 0xf : (uint8_t)((1u << rest) - 1);
}

/** Checks and records the accesses of a copy as accesses of the running thread. */
static void access_words(const struct copy *copy)
{
    struct word_access access = {
        .pc = copy->pc, .pc_slot = pc_slot_find_or_add(copy->pc), .may_include_padding = copy->from_bytes >= 8};

    for (unsigned word = 0; 4 * word < copy->from_bytes; word++) {
        access.address = (uintptr_t)copy->from + 4 * word;
        access.byte_mask = bytes_of_word(copy->from_bytes, word);
        access.access_type = ACCESS_LOAD;
        access.space = SPACE_GLOBAL;
        shadow_check_load(&copy->from_cells[word], access);
    }
    for (unsigned word = 0; 4 * word < copy->bytes; word++) {
        access.address = (uintptr_t)copy->to + 4 * word;
        access.byte_mask = 0xf;
        access.access_type = ACCESS_STORE;
        access.space = SPACE_SHARED;
        shadow_check_store(&copy->to_cells[word], access);
    }
}

static struct stamp stamp_of(const struct shadow_cell *cell)
{
    return (struct stamp){.epoch = cell->write_epoch, .write = cell->packed_write & ~(uint32_t)WORD_STATE_MASK};
}

/**
 * Begins a new epoch if the source was written in the current one, so that a later store by the same source line is not
 * mistaken for that write.
 */
static void part_from_own_stores(const struct copy *copy)
{
    for (unsigned word = 0; 4 * word < copy->from_bytes; word++) {
        if (copy->from_cells[word].write_epoch == simt_current_order.epoch) {
            simt_current_order.epoch++;
            return;
        }
    }
}

/** Records the last write to each source word and marks the destination, which no thread may access until the wait. */
static void begin_copy(struct copy *copy)
{
    bool refills[COPY_WORDS];

    for (unsigned word = 0; 4 * word < copy->bytes; word++)
        refills[word] = shadow_shared_word_is_written(&copy->to_cells[word]);
    part_from_own_stores(copy);
    access_words(copy);
    for (unsigned word = 0; 4 * word < copy->from_bytes; word++)
        copy->source[word] = stamp_of(&copy->from_cells[word]);
    for (unsigned word = 0; 4 * word < copy->bytes; word++)
        shadow_begin_async_copy(&copy->to_cells[word], refills[word]);
}

/** Ends the launch if any part of the source has been written since the issue. */
static void check_source(const struct copy *copy)
{
    for (unsigned word = 0; 4 * word < copy->from_bytes; word++) {
        const struct stamp now = stamp_of(&copy->from_cells[word]);

        if (SIMT_LIKELY(now.epoch == copy->source[word].epoch && now.write == copy->source[word].write))
            continue;
        const uint3 index = simt_thread_index(now.write >> WRITE_THREAD_SHIFT);
        const uint3 block = simt_block_index(simt_block_running_at(now.epoch));

        simt_fault_here(cudaErrorLaunchFailure, copy->pc, "source of an asynchronous copy overwritten",
                        "copies %u byte%s asynchronously, of which thread (%u,%u,%u) of block (%u,%u,%u) wrote "
                        "some" SIMT_PC_LOCATION_FORMAT " before they were waited for",
                        copy->from_bytes, plural_ending(copy->from_bytes), index.x, index.y, index.z, block.x, block.y,
                        block.z, simt_pc_in_slot(now.write & PC_SLOT_MASK));
    }
}

/** Unmarks the destination, so that a thread that has waited may access it. */
static void unmark(const struct copy *copy)
{
    for (unsigned word = 0; 4 * word < copy->bytes; word++)
        shadow_end_async_copy(&copy->to_cells[word]);
}

/** Unmarks the destination after a wait on an mbarrier, and records the copy as a write in the current epoch. */
static void complete(const struct copy *copy)
{
    for (unsigned word = 0; 4 * word < copy->bytes; word++)
        shadow_end_async_copy_as_write(&copy->to_cells[word]);
}

/** Writes the copied bytes and the zero-fill to the destination. */
static void fill(const struct copy *copy)
{
    memset(copy->to, 0, copy->bytes);
    if (copy->from_bytes > 0)
        memcpy(copy->to, copy->from, copy->from_bytes);
}

/** Completes a copy of the running thread after its wait. */
static void end_copy(const struct copy *copy)
{
    check_source(copy);
    unmark(copy);
    access_words(copy);
    fill(copy);
}

/** See simt_describe_group_wait_hook. */
static void describe_group_wait(unsigned thread, const struct shadow_cell *cell, char *text, size_t size)
{
    const struct lane *const lane = &simt_running.block->lane[thread];
    const uint32_t committed = lane->num_groups_at_group_wait, left = lane->num_groups_left_by_wait;
    uint32_t number = lane->first_async_copy;

    text[0] = '\0';
    while (number &&
           (cell < copies[number].to_cells || cell >= copies[number].to_cells + (copies[number].bytes + 3) / 4))
        number = copies[number].next;
    if (!number || !lane->group_wait_site)
        return;
    const uint32_t group = copies[number].group, prior = committed - 1 - group;

    if (group >= lane->num_committed_copy_groups)
        snprintf(text, size,
                 ": no __pipeline_commit() has come after the copy" SIMT_ADVICE_PREFIX
                 "__pipeline_commit() between the copy and the wait" SIMT_PC_LOCATION_FORMAT,
                 lane->group_wait_site);
    else if (group >= committed)
        snprintf(text, size,
                 ": the copy's group was committed after the last wait," SIMT_PC_LOCATION_FORMAT SIMT_ADVICE_PREFIX
                 "wait for it first: __pipeline_wait_prior(0) after its __pipeline_commit(), then __syncthreads() if "
                 "other threads use the data",
                 lane->group_wait_site);
    else
        snprintf(text, size,
                 ": the wait" SIMT_PC_LOCATION_FORMAT
                 ", __pipeline_wait_prior(%u), came after %u commit%s and lets the last %u group%s be under way; the "
                 "copy is in group %u" SIMT_ADVICE_PREFIX "%s__pipeline_wait_prior(%u) there%s; then "
                 "__syncthreads() if other threads use the data",
                 lane->group_wait_site, left, committed, plural_ending(committed), left, plural_ending(left), group + 1,
                 lane->no_group_since_previous_wait ? "commit an empty group in the last iterations too, or " : "",
                 prior, prior > 0 ? ", or a smaller number" : "");
}

/* --- functions of device_calls.h ---------------------------------------------------------------------------------- */

/** Ends the launch unless the size is 4, 8 or 16 bytes and the destination is aligned and in shared memory. */
static void check_destination(const void *to, size_t bytes, size_t zeros, uintptr_t pc)
{
    const uintptr_t shared = (uintptr_t)to - simt_memory.shared_begin;

    if (bytes != 4 && bytes != 8 && bytes != 16)
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad asynchronous copy",
                        "copies %zu byte%s asynchronously; it can be 4, 8 or 16", bytes, plural_ending(bytes));
    if (zeros > bytes)
        simt_fault_here(cudaErrorLaunchFailure, pc, "bad asynchronous copy",
                        "copies %zu bytes asynchronously, of which %zu shall be zeros", bytes, zeros);
    if (shared >= simt_memory.shared_bytes)
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                        "copies %zu bytes asynchronously to memory that is not shared", bytes);
    if ((uintptr_t)to % bytes != 0)
        simt_fault_here(cudaErrorMisalignedAddress, pc, "misaligned address",
                        "copies %zu bytes asynchronously to an address that is not a multiple of %zu (it ends in 0x%x)",
                        bytes, bytes, (unsigned)((uintptr_t)to & 0xff));
    if (shared + bytes > simt_memory.dynamic_shared_requested_end && shared < simt_memory.dynamic_shared_array_end)
        simt_fault_beyond_dynamic_shared(shared, (unsigned)bytes, true, pc);
}

/**
 * Returns the shadow of the source, from which `copied` bytes are read. Ends the launch unless these bytes are in
 * global memory.
 */
static struct shadow_cell *find_source(const void *from, size_t bytes, size_t copied, uintptr_t pc, uint64_t *offset)
{
    const uintptr_t global = (uintptr_t)from - simt_memory.arena_begin;
    const uintptr_t data = (uintptr_t)from - simt_program.device_variables_low;
    const bool is_data = data < simt_program.device_variables_high - simt_program.device_variables_low;

    if (global >= simt_memory.arena_bytes && !is_data)
        simt_fault_here(cudaErrorIllegalAddress, pc, "illegal address",
                        "copies %zu bytes asynchronously from memory that is not global", bytes);
    if ((uintptr_t)from % bytes != 0)
        simt_fault_here(
            cudaErrorMisalignedAddress, pc, "misaligned address",
            "copies %zu bytes asynchronously from an address that is not a multiple of %zu (it ends in 0x%x)", bytes,
            bytes, (unsigned)((uintptr_t)from & 0xff));
    if (is_data && !simt_device_variable_contains((uintptr_t)from, copied))
        simt_fault_outside_device_variables((uintptr_t)from, (unsigned)copied, false, pc);
    *offset = is_data ? data | EVENT_OFFSET_IN_PROGRAM_DATA : global;
    return is_data ? simt_memory.device_variables_shadow + data / 4 : simt_memory.arena_shadow + global / 4;
}

void simt_copy_async(void *destination, const void *source, size_t bytes, size_t zero_bytes)
{
    const uintptr_t pc = SIMT_RETURN_ADDRESS();
    struct lane *const lane = simt_running.lane;
    struct shadow_cell *from_cells = NULL;
    uint64_t offset = 0;

    if (!lane)
        return;
    check_destination(destination, bytes, zero_bytes, pc);
    if (zero_bytes < bytes)
        from_cells = find_source(source, bytes, bytes - zero_bytes, pc, &offset);

    const uintptr_t shared = (uintptr_t)destination - simt_memory.shared_begin;
    const uint32_t number = take_copy();
    struct copy *const copy = &copies[number];

    if (number == 0)
        simt_fault_here(cudaErrorMemoryAllocation, pc, "out of memory", "has more copies under way than there is room");
    *copy = (struct copy){.to = destination,
                          .from = source,
                          .to_cells = simt_memory.shared_shadow + shared / 4,
                          .from_cells = from_cells,
                          .pc = pc,
                          .group = lane->num_committed_copy_groups,
                          .bytes = (uint8_t)bytes,
                          .from_bytes = (uint8_t)(bytes - zero_bytes)};
    if (lane->last_async_copy)
        copies[lane->last_async_copy].next = number;
    else
        lane->first_async_copy = number;
    lane->last_async_copy = number;
    simt_describe_group_wait_hook = describe_group_wait;
    begin_copy(copy);
    simt_current_order.packed_last_load = 0;
    simt_record_access_event(pc, source, EVENT_ASYNC_COPY_READ, zero_bytes < bytes ? (unsigned)bytes : 0, offset);
    simt_record_access_event(pc, destination, EVENT_ASYNC_COPY_WRITE, (unsigned)bytes, shared);
}

void simt_async_copies_commit(void)
{
    if (simt_running.lane)
        simt_running.lane->num_committed_copy_groups++;
}

void simt_async_copies_wait(size_t num_pending_groups)
{
    struct lane *const lane = simt_running.lane;

    if (lane) {
        lane->no_group_since_previous_wait = lane->group_wait_site &&
                                             lane->num_groups_at_group_wait == lane->num_committed_copy_groups;
        lane->group_wait_site = SIMT_RETURN_ADDRESS();
        lane->num_groups_at_group_wait = lane->num_committed_copy_groups;
        lane->num_groups_left_by_wait = num_pending_groups < UINT32_MAX ? (uint32_t)num_pending_groups : UINT32_MAX;
    }
    while (lane && lane->first_async_copy &&
           copies[lane->first_async_copy].group + (uint64_t)num_pending_groups < lane->num_committed_copy_groups) {
        end_copy(&copies[lane->first_async_copy]);
        drop_first(lane);
    }
}

uint32_t simt_async_copy_list_detach_from_lane(void)
{
    const uint32_t first = simt_running.lane->first_async_copy;

    simt_running.lane->first_async_copy = simt_running.lane->last_async_copy = 0;
    return first;
}

void simt_async_copy_list_complete(uint32_t *first_remaining_copy)
{
    while (*first_remaining_copy) {
        const struct copy *const copy = &copies[*first_remaining_copy];

        check_source(copy);
        complete(copy);
        fill(copy);
        *first_remaining_copy = drop(*first_remaining_copy);
    }
}

void simt_async_copy_list_discard(uint32_t *first_remaining_copy)
{
    while (*first_remaining_copy) {
        unmark(&copies[*first_remaining_copy]);
        *first_remaining_copy = drop(*first_remaining_copy);
    }
}

void simt_block_discard_async_copies(struct block *block)
{
    for (unsigned i = 0; i < block->num_threads && under_way > 0; i++) {
        struct lane *const lane = &block->lane[i];

        while (lane->first_async_copy) {
            unmark(&copies[lane->first_async_copy]);
            drop_first(lane);
        }
    }
}
