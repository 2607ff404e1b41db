/**
 * @file bulk_copies.h  Copies of a row or a tile to shared memory, under way until somebody has waited for their
 * barrier.
 */
#ifndef SIMT_BULK_COPIES_H
#define SIMT_BULK_COPIES_H

#include "device_calls.h"
#include "memory/shadow.h"

/** A tile of a matrix, by chunks of 16 bytes; a row is a matrix of one. */
struct bulk_copy {
    unsigned char *to;
    simt_tensor_map map;
    int32_t row, column;
    uintptr_t pc;
    uint32_t thread;            /**< that issued it, in its block */
    uint32_t epoch;             /**< of nothing but what this one writes */
    uint32_t phase;             /**< of its barrier */
    uint32_t next;              /**< of its barrier's copies; 0: none */
    struct shadow_cell *shadow; /**< of its block's shared memory */
};

/** The running thread issues a copy, if its matrix and its place are such that it can. Its number. */
uint32_t simt_bulk_copy_take(const struct bulk_copy *copy);
/** Checks what it does to memory, and marks what it writes. */
void simt_bulk_copy_begin(uint32_t number);
struct bulk_copy *simt_bulk_copy_at(uint32_t number);
/** The offset in global memory, as in an event, of the first byte that it reads; EVENT_OUTSIDE: it writes zeros. */
uint64_t simt_bulk_copy_source(uint32_t number);
static inline uint32_t bulk_copy_bytes(const struct bulk_copy *copy)
{
    return copy->map.tile_rows * copy->map.tile_columns * 2;
}
/** Somebody has waited for it: the bytes arrive, and it is no more. The number of the next. */
uint32_t simt_bulk_copy_arrive(uint32_t number);
/** It is no more, without having arrived. */
uint32_t simt_bulk_copy_forget(uint32_t number);

#endif
