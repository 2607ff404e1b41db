/**
 * @file bulk_copies.h
 * @brief Bulk copies of a row or a tile to shared memory, in flight until a thread has waited on their mbarrier. Used
 *        by mbarriers.c.
 */
#ifndef SIMT_BULK_COPIES_H
#define SIMT_BULK_COPIES_H

#include "device_calls.h"
#include "memory/shadow.h"

/**
 * A copy of a tile of a matrix, in chunks of 16 bytes. The copy of a row is stored as the copy of a matrix with one
 * row.
 */
struct bulk_copy {
    unsigned char *destination;
    simt_tensor_map map;
    int32_t row, column;
    uintptr_t pc;
    uint32_t issuing_thread;           /**< index of the issuing thread in the block */
    uint32_t epoch;                    /**< epoch that covers only this copy's writes */
    uint32_t mbarrier_phase;           /**< phase of the copy's mbarrier */
    uint32_t next_copy_of_mbarrier;    /**< next copy of the same mbarrier; 0 if none */
    struct shadow_cell *shared_shadow; /**< shadow of the block's whole shared memory */
};

/**
 * Records a copy that the running thread issues and returns its number. Ends the launch if the source or the
 * destination is invalid.
 */
uint32_t simt_bulk_copy_issue(const struct bulk_copy *copy);
/** Checks the accesses of a copy and marks the words of shared memory that it will write. */
void simt_bulk_copy_check_and_mark_destination(uint32_t copy_number);
/** Returns the copy with a number. */
struct bulk_copy *simt_bulk_copy_at(uint32_t copy_number);
/**
 * Returns the offset in global memory, as events record it, of the first byte that a copy reads, or
 * EVENT_OFFSET_IN_PROGRAM_DATA if the copy writes only zeros.
 */
uint64_t simt_bulk_copy_source_offset_for_event(uint32_t copy_number);
/** Returns the number of bytes that a copy writes. */
static inline uint32_t bulk_copy_bytes(const struct bulk_copy *copy)
{
    return copy->map.tile_rows * copy->map.tile_columns * 2;
}
/**
 * Completes a copy that a thread has waited for: writes its bytes and frees its number. Returns the number of the next
 * copy that counts towards the same barrier.
 */
uint32_t simt_bulk_copy_complete_and_get_next(uint32_t copy_number);
/**
 * Discards a copy whose bytes have not arrived. Returns the number of the next copy that counts towards the same
 * barrier.
 */
uint32_t simt_bulk_copy_discard_and_get_next(uint32_t copy_number);

#endif
