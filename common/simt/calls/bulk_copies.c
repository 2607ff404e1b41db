/**
 * @file bulk_copies.c
 * @brief The memory accesses of bulk copies (of a row or a tile), from their issue to the wait for them. Used by
 *        mbarriers.c.
 *
 * A bulk copy is checked like the copies in copies.c, except that a thread other than the issuing thread may wait for
 * it on an mbarrier. Its writes count as writes of the issuing thread at a separate epoch, which the waiting thread
 * acquires.
 */
#include "bulk_copies.h"

#include "kernel_calls.h"
#include "machine/fault.h"
#include "machine/program_image.h"
#include "machine/array_reserve.h"
#include "memory/proxy.h"

#include <string.h>

enum { CHUNK = 16, CHUNK_WORDS = CHUNK / 4 };

static struct bulk_copy *copies; /**< indexed by number; number 0 means no copy */
static size_t copy_room;
static uint32_t copy_count, free_copy;

/* --- storage ------------------------------------------------------------------------------------------------------ */

static uint32_t take_copy(void)
{
    const uint32_t free_one = free_copy;

    if (free_one) {
        free_copy = copies[free_one].next_copy_of_mbarrier;
        return free_one;
    }
    if (!simt_array_reserve(&copies, &copy_room, (size_t)copy_count + 2, sizeof *copies))
        return 0;
    return ++copy_count;
}

struct bulk_copy *simt_bulk_copy_at(uint32_t copy_number)
{
    return &copies[copy_number];
}

static uint32_t drop(uint32_t number)
{
    const uint32_t next = copies[number].next_copy_of_mbarrier;

    copies[number].next_copy_of_mbarrier = free_copy;
    free_copy = number;
    return next;
}

/* --- chunks ------------------------------------------------------------------------------------------------------- */

struct chunk {
    unsigned char *to;
    const unsigned char *from; /**< NULL if outside the matrix; the chunk is then zero-filled */
};

static uint32_t chunk_count(const struct bulk_copy *copy)
{
    return bulk_copy_bytes(copy) / CHUNK;
}

/**
 * Returns the swizzled address: 1 to 3 bits from bit 4 upwards, depending on the swizzle width, are XORed with the same
 * number of bits from bit 7 upwards.
 */
static uintptr_t swizzled(uintptr_t address, uint32_t swizzle)
{
    const uintptr_t bits = swizzle ? swizzle / CHUNK - 1 : 0;

    return address ^ (address >> 7 & bits) << 4;
}

static struct chunk chunk_of(const struct bulk_copy *copy, uint32_t number)
{
    const simt_tensor_map *const map = &copy->map;
    const uint32_t in_row = map->tile_columns * 2 / CHUNK;
    const int64_t row = (int64_t)copy->row + number / in_row;
    const int64_t column = (int64_t)copy->column + number % in_row * (CHUNK / 2);
    const uintptr_t to = swizzled((uintptr_t)copy->destination + (uintptr_t)number * CHUNK, map->swizzle);
    const bool inside = row >= 0 && column >= 0 && (uint64_t)row < map->rows && (uint64_t)column < map->columns;

    return (struct chunk){(unsigned char *)to, inside ? (const unsigned char *)map->matrix +
                                                            ((uint64_t)row * map->columns + (uint64_t)column) * 2
                                                      : NULL};
}

static struct shadow_cell *shared_cell(const struct bulk_copy *copy, const struct chunk *chunk)
{
    return copy->shared_shadow + ((uintptr_t)chunk->to - simt_memory.shared_begin) / 4;
}

static struct shadow_cell *global_cell(const void *address)
{
    const uintptr_t global = (uintptr_t)address - simt_memory.arena_begin;

    return global < simt_memory.arena_bytes
               ? simt_memory.arena_shadow + global / 4
               : simt_memory.device_variables_shadow + ((uintptr_t)address - simt_program.device_variables_low) / 4;
}

/* --- memory accesses of a copy ------------------------------------------------------------------------------------ */

static void load_chunk(const struct chunk *chunk, uintptr_t pc)
{
    struct shadow_cell *cell = global_cell(chunk->from);
    struct word_access access = {.pc = pc,
                                 .pc_slot = pc_slot_find_or_add(pc),
                                 .byte_mask = 0xf,
                                 .may_include_padding = true,
                                 .access_type = ACCESS_LOAD,
                                 .space = SPACE_GLOBAL};

    for (unsigned word = 0; word < CHUNK_WORDS; word++, cell++) {
        access.address = (uintptr_t)chunk->from + 4 * word;
        shadow_check_load(cell, access);
        simt_check_proxy_fence_after_last_write(cell, SPACE_GLOBAL, pc, "copies");
    }
}

static void store_chunk(const struct bulk_copy *copy, const struct chunk *chunk)
{
    struct shadow_cell *cell = shared_cell(copy, chunk);
    struct word_access access = {.pc = copy->pc,
                                 .pc_slot = pc_slot_find_or_add(copy->pc),
                                 .byte_mask = 0xf,
                                 .access_type = ACCESS_STORE,
                                 .space = SPACE_SHARED};

    for (unsigned word = 0; word < CHUNK_WORDS; word++, cell++) {
        const bool refills = shadow_shared_word_is_written(cell);

        access.address = (uintptr_t)chunk->to + 4 * word;
        /* A store whose value a thread has already read cannot take effect after the copy, so it needs no fence. */
        if (cell->write_epoch >= simt_current_order.order_within_block.block_begin_epoch &&
            cell->read_epoch < cell->write_epoch)
            simt_check_proxy_fence_after_last_write(cell, SPACE_SHARED, copy->pc, "overwrites");
        shadow_check_store(cell, access);
        shadow_begin_async_copy(cell, refills);
    }
}

/** Ends the launch unless the entire matrix is in global memory. */
static void check_source(const struct bulk_copy *copy)
{
    const simt_tensor_map *const map = &copy->map;
    const uintptr_t from = (uintptr_t)map->matrix, bytes = map->rows * map->columns * 2;
    const uintptr_t global = from - simt_memory.arena_begin, data = from - simt_program.device_variables_low;

    if (global < simt_memory.arena_bytes && bytes <= simt_memory.arena_bytes - global)
        return;
    if (data < simt_program.device_variables_high - simt_program.device_variables_low) {
        if (!simt_device_variable_contains(from, bytes))
            simt_fault_outside_device_variables(from, (unsigned)bytes, false, copy->pc);
        return;
    }
    char where[160];

    if (global < simt_memory.arena_bytes && simt_arena_describe_address(from, where, sizeof where))
        simt_fault_here(cudaErrorIllegalAddress, copy->pc, "out-of-bounds global access",
                        "copies from a matrix of %" PRIu64 " rows of %" PRIu64 " elements, %" PRIuPTR
                        " bytes in all, which is longer than its memory: it begins %s" SIMT_ADVICE_PREFIX
                        "the number of rows that were allocated",
                        map->rows, map->columns, bytes, where);
    simt_fault_here(cudaErrorIllegalAddress, copy->pc, "illegal address",
                    "copies from a matrix of %" PRIuPTR " bytes that is not in global memory" SIMT_ADVICE_PREFIX
                    "a matrix in memory from cudaMalloc()",
                    bytes);
}

/** Ends the launch unless the destination is in the shared memory of this launch. */
static void check_destination(const struct bulk_copy *copy)
{
    const uintptr_t shared = (uintptr_t)copy->destination - simt_memory.shared_begin;
    const uint32_t bytes = bulk_copy_bytes(copy);

    if (shared >= simt_memory.shared_bytes)
        simt_fault_here(cudaErrorIllegalAddress, copy->pc, "illegal address",
                        "copies %u bytes to memory that is not shared", bytes);
    if (shared + bytes > simt_memory.shared_bytes ||
        (shared + bytes > simt_memory.dynamic_shared_requested_end && shared < simt_memory.dynamic_shared_array_end))
        simt_fault_beyond_dynamic_shared(shared, bytes, true, copy->pc);
}

uint32_t simt_bulk_copy_issue(const struct bulk_copy *copy)
{
    check_source(copy);
    check_destination(copy);
    const uint32_t number = take_copy();

    if (number == 0)
        simt_fault_here(cudaErrorMemoryAllocation, copy->pc, "out of memory",
                        "has more copies under way than there is room");
    copies[number] = *copy;
    copies[number].shared_shadow = simt_memory.shared_shadow;
    return number;
}

void simt_bulk_copy_check_and_mark_destination(uint32_t copy_number)
{
    struct bulk_copy *const copy = &copies[copy_number];

    copy->epoch = ++simt_current_order.epoch;
    if (!simt_proxy_record_epoch_is_bulk_copy())
        simt_fault_here(cudaErrorMemoryAllocation, copy->pc, "out of memory",
                        "has more copies under way than there is room");
    for (uint32_t i = 0; i < chunk_count(copy); i++) {
        const struct chunk chunk = chunk_of(copy, i);

        if (chunk.from)
            load_chunk(&chunk, copy->pc);
        store_chunk(copy, &chunk);
    }
    simt_current_order.epoch++;
}

uint64_t simt_bulk_copy_source_offset_for_event(uint32_t copy_number)
{
    const struct bulk_copy *const copy = &copies[copy_number];

    for (uint32_t i = 0; i < chunk_count(copy); i++) {
        const uintptr_t from = (uintptr_t)chunk_of(copy, i).from, global = from - simt_memory.arena_begin;

        if (from)
            return global < simt_memory.arena_bytes
                       ? global
                       : (from - simt_program.device_variables_low) | EVENT_OFFSET_IN_PROGRAM_DATA;
    }
    return EVENT_OFFSET_IN_PROGRAM_DATA;
}

/** Ends the launch if a word of the source has been written since the copy was issued. */
static void check_unchanged(const struct bulk_copy *copy, const struct chunk *chunk)
{
    const struct shadow_cell *cell = global_cell(chunk->from);

    for (unsigned word = 0; word < CHUNK_WORDS; word++, cell++) {
        if (SIMT_LIKELY(cell->write_epoch <= copy->epoch))
            continue;
        const uint3 index = simt_thread_index(cell->packed_write >> WRITE_THREAD_SHIFT);
        const uint3 block = simt_block_index(simt_block_running_at(cell->write_epoch));

        simt_fault_here(cudaErrorLaunchFailure, copy->pc, "source of an asynchronous copy overwritten",
                        "has waited for this copy, of which thread (%u,%u,%u) of block (%u,%u,%u) "
                        "wrote some" SIMT_PC_LOCATION_FORMAT " meanwhile",
                        index.x, index.y, index.z, block.x, block.y, block.z,
                        simt_pc_in_slot(cell->packed_write & PC_SLOT_MASK));
    }
}

uint32_t simt_bulk_copy_complete_and_get_next(uint32_t copy_number)
{
    const struct bulk_copy *const copy = &copies[copy_number];

    for (uint32_t i = 0; i < chunk_count(copy); i++) {
        const struct chunk chunk = chunk_of(copy, i);

        for (unsigned word = 0; word < CHUNK_WORDS; word++)
            shadow_end_async_copy_as_write(shared_cell(copy, &chunk) + word);
        if (chunk.from) {
            check_unchanged(copy, &chunk);
            memcpy(chunk.to, chunk.from, CHUNK);
        } else {
            memset(chunk.to, 0, CHUNK);
        }
    }
    return drop(copy_number);
}

uint32_t simt_bulk_copy_discard_and_get_next(uint32_t copy_number)
{
    const struct bulk_copy *const copy = &copies[copy_number];

    for (uint32_t i = 0; i < chunk_count(copy); i++) {
        const struct chunk chunk = chunk_of(copy, i);

        for (unsigned word = 0; word < CHUNK_WORDS; word++)
            shadow_end_async_copy(shared_cell(copy, &chunk) + word);
    }
    return drop(copy_number);
}
