/** @file byte_ranges.c  Stores sets of bytes as ranges of addresses. */
#include "byte_ranges.h"

#include "machine/array_reserve.h"

#include <stdlib.h>

static int by_begin(const void *a, const void *b)
{
    const struct range *const left = a;
    const struct range *const right = b;

    return (left->begin > right->begin) - (left->begin < right->begin);
}

void simt_ranges_normalise(struct ranges *ranges)
{
    size_t kept = 0;

    if (ranges->count == 0)
        return;
    qsort(ranges->range, ranges->count, sizeof *ranges->range, by_begin);
    for (size_t i = 1; i < ranges->count; i++) {
        struct range *last = &ranges->range[kept];
        const struct range *next = &ranges->range[i];

        if (next->begin > last->end)
            ranges->range[++kept] = *next;
        else if (next->end > last->end)
            last->end = next->end;
    }
    ranges->count = kept + 1;
}

void simt_ranges_add(struct ranges *ranges, uintptr_t begin, uintptr_t end)
{
    if (ranges->count > 0 && ranges->range[ranges->count - 1].end == begin) {
        ranges->range[ranges->count - 1].end = end;
        return;
    }
    if (!simt_array_reserve(&ranges->range, &ranges->room, ranges->count + 1, sizeof *ranges->range))
        return;
    ranges->range[ranges->count++] = (struct range){begin, end};
}

void simt_ranges_remove(struct ranges *ranges, uintptr_t begin, uintptr_t end)
{
    for (size_t i = ranges->count; i-- > 0;) {
        const struct range whole = ranges->range[i];

        if (whole.end <= begin || whole.begin >= end)
            continue;
        ranges->range[i] = ranges->range[--ranges->count];
        if (whole.begin < begin)
            simt_ranges_add(ranges, whole.begin, begin);
        if (end < whole.end)
            simt_ranges_add(ranges, end, whole.end);
    }
    simt_ranges_normalise(ranges);
}

bool simt_ranges_overlap(const struct ranges *a, const struct ranges *b, uintptr_t *address)
{
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct range *left = &a->range[i];
        const struct range *right = &b->range[j];

        if (left->begin < right->end && right->begin < left->end) {
            *address = left->begin > right->begin ? left->begin : right->begin;
            return true;
        }
        if (left->end <= right->begin)
            i++;
        else
            j++;
    }
    return false;
}
