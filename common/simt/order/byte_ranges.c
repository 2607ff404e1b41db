/** @file byte_ranges.c  Stores sets of bytes as ranges of addresses. */
#include "byte_ranges.h"

#include "machine/array_reserve.h"

#include <stdlib.h>

static int by_begin(const void *a, const void *b)
{
    const struct byte_range *const left = a;
    const struct byte_range *const right = b;

    return (left->begin > right->begin) - (left->begin < right->begin);
}

void simt_ranges_normalise(struct byte_ranges *ranges)
{
    size_t kept = 0;

    if (ranges->num_ranges == 0)
        return;
    qsort(ranges->range, ranges->num_ranges, sizeof *ranges->range, by_begin);
    for (size_t i = 1; i < ranges->num_ranges; i++) {
        struct byte_range *last = &ranges->range[kept];
        const struct byte_range *next = &ranges->range[i];

        if (next->begin > last->end)
            ranges->range[++kept] = *next;
        else if (next->end > last->end)
            last->end = next->end;
    }
    ranges->num_ranges = kept + 1;
}

void simt_ranges_append(struct byte_ranges *ranges, uintptr_t begin, uintptr_t end)
{
    if (ranges->num_ranges > 0 && ranges->range[ranges->num_ranges - 1].end == begin) {
        ranges->range[ranges->num_ranges - 1].end = end;
        return;
    }
    if (!simt_array_reserve(&ranges->range, &ranges->capacity, ranges->num_ranges + 1, sizeof *ranges->range))
        return;
    ranges->range[ranges->num_ranges++] = (struct byte_range){begin, end};
}

void simt_ranges_remove(struct byte_ranges *ranges, uintptr_t begin, uintptr_t end)
{
    for (size_t i = ranges->num_ranges; i-- > 0;) {
        const struct byte_range whole = ranges->range[i];

        if (whole.end <= begin || whole.begin >= end)
            continue;
        ranges->range[i] = ranges->range[--ranges->num_ranges];
        if (whole.begin < begin)
            simt_ranges_append(ranges, whole.begin, begin);
        if (end < whole.end)
            simt_ranges_append(ranges, end, whole.end);
    }
    simt_ranges_normalise(ranges);
}

bool simt_ranges_overlap(const struct byte_ranges *a, const struct byte_ranges *b, uintptr_t *address)
{
    for (size_t i = 0, j = 0; i < a->num_ranges && j < b->num_ranges;) {
        const struct byte_range *left = &a->range[i];
        const struct byte_range *right = &b->range[j];

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
