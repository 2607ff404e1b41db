/**
 * @file byte_ranges.h
 * @brief Sets of bytes, stored as address ranges, which stream_work.c uses to record the accesses of launches and
 *         copies.
 */
#ifndef SIMT_BYTE_RANGES_H
#define SIMT_BYTE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_range {
    uintptr_t begin, end;
};

/** A set of bytes. Its ranges are disjoint and sorted after simt_ranges_normalise(). */
struct byte_ranges {
    struct byte_range *range;
    size_t num_ranges, capacity;
};

/** Adds a range; does nothing if out of memory. */
void simt_ranges_append(struct byte_ranges *ranges, uintptr_t begin, uintptr_t end);
/** Removes the bytes of a range. */
void simt_ranges_remove(struct byte_ranges *ranges, uintptr_t begin, uintptr_t end);
/** Sorts the ranges and merges those that overlap or touch. */
void simt_ranges_normalise(struct byte_ranges *ranges);
/** Returns whether two normalised sets have a byte in common; stores the address of the first such byte in *address. */
bool simt_ranges_overlap(const struct byte_ranges *a, const struct byte_ranges *b, uintptr_t *address);

#endif
