/** @file byte_ranges.h  Sets of bytes, as ranges of addresses. */
#ifndef SIMT_BYTE_RANGES_H
#define SIMT_BYTE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
    uintptr_t begin, end;
};

/** Apart and in order, once they are settled. */
struct ranges {
    struct range *range;
    size_t count, room;
};

/** What does not fit into memory is forgotten. */
void simt_ranges_add(struct ranges *ranges, uintptr_t begin, uintptr_t end);
void simt_ranges_settle(struct ranges *ranges);
/** Whether two that are settled have a byte in common: the first. */
bool simt_ranges_overlap(const struct ranges *a, const struct ranges *b, uintptr_t *address);

#endif
