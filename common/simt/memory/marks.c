/**
 * @file marks.c
 * @brief Sets and clears the marks of each byte of device memory: inaccessible to kernels, unwritten, or read through
 *        __ldg.
 */
#include "arena.h"
#include "simt.h"

#include <string.h>

/*
 * The marks hold the state of each byte. A byte's bit in the shadow, GLOBAL_WORD_MARKED_SHIFT, makes accesses check the
 * marks. The bit is set for every marked byte from the next launch on, and may remain set after the mark has been
 * cleared. Processes that are forked share the marks, but not the shadow.
 */

/**
 * Sets or clears the marks of one kind for the bytes in [from, to). `kind` is the offset of the kind in struct
 * marks_of_32_bytes.
 */
static void set_marks(size_t kind, size_t from, size_t to, bool value)
{
    for (size_t at = from, next; at < to; at = next) {
        uint32_t *const marks = (uint32_t *)((unsigned char *)&simt_arena.marks_of_32_bytes[at / 32] + kind);
        uint32_t bits = UINT32_MAX;

        next = (at / 32 + 1) * 32 < to ? (at / 32 + 1) * 32 : to;
        if (next - at < 32)
            bits = ((1u << (next - at)) - 1) << at % 32;
        *marks = value ? *marks | bits : *marks & ~bits;
    }
}

static void set_inaccessible(size_t from, size_t to, bool value)
{
    set_marks(offsetof(struct marks_of_32_bytes, inaccessible_mask), from, to, value);
}

void simt_set_unwritten_marks(size_t begin, size_t bytes, bool unwritten)
{
    set_marks(offsetof(struct marks_of_32_bytes, unwritten_mask), begin, begin + bytes, unwritten);
}

static uint32_t marks_of(size_t at)
{
    return simt_arena.marks_of_32_bytes[at / 32].inaccessible_mask |
           simt_arena.marks_of_32_bytes[at / 32].unwritten_mask;
}

void simt_copy_marks_to_shadow(size_t begin, size_t bytes)
{
    for (size_t word = begin / 4; word < (begin + bytes + 3) / 4; word++) {
        const uint32_t marks = marks_of(word * 4);

        if (marks == 0)
            word |= 7;
        else
            simt_arena.shadow[word].packed_write |= (marks >> word * 4 % 32 & 0xf) << GLOBAL_WORD_MARKED_SHIFT;
    }
}

void simt_mark_inaccessible(size_t begin, size_t bytes)
{
    set_inaccessible(begin, begin + bytes, true);
    simt_copy_marks_to_shadow(begin, bytes);
}

void simt_mark_accessible(size_t begin, size_t bytes)
{
    set_inaccessible(begin, begin + bytes, false);
    memset(&simt_arena.shadow[begin / 4], 0, (bytes + 3) / 4 * sizeof *simt_arena.shadow);
}

struct word_marks simt_arena_word_marks(uintptr_t address)
{
    const size_t at = address - (uintptr_t)simt_arena.base;
    const struct marks_of_32_bytes *marks = &simt_arena.marks_of_32_bytes[at / 32];

    return (struct word_marks){.inaccessible_mask = marks->inaccessible_mask >> at % 32 & 0xf,
                               .unwritten_mask = marks->unwritten_mask >> at % 32 & 0xf,
                               .ldg_read_mask = simt_arena.ldg_read_bitmap[at / 32] >> at % 32 & 0xf};
}

void simt_arena_mark_ldg_read(uintptr_t address, uint32_t byte_mask)
{
    const size_t at = address - (uintptr_t)simt_arena.base;

    simt_arena.ldg_read_bitmap[at / 32] |= byte_mask << at % 32;
    simt_arena.shadow[at / 4].packed_write |= byte_mask << GLOBAL_WORD_MARKED_SHIFT;
    if (simt_arena.ldg_read_high == 0 || at < simt_arena.ldg_read_low)
        simt_arena.ldg_read_low = at;
    if (at + 4 > simt_arena.ldg_read_high)
        simt_arena.ldg_read_high = at + 4;
}

void simt_clear_ldg_reads(void)
{
    if (simt_arena.ldg_read_high > 0)
        memset(&simt_arena.ldg_read_bitmap[simt_arena.ldg_read_low / 32], 0,
               (simt_arena.ldg_read_high / 32 - simt_arena.ldg_read_low / 32 + 1) * sizeof *simt_arena.ldg_read_bitmap);
    simt_arena.ldg_read_high = 0;
}

void simt_arena_clear_unwritten(uintptr_t address, uint32_t byte_mask)
{
    const size_t at = address - (uintptr_t)simt_arena.base;

    simt_arena.marks_of_32_bytes[at / 32].unwritten_mask &= ~(byte_mask << at % 32);
}

bool simt_arena_unwritten_bytes_may_be_padding(uintptr_t address)
{
    const size_t at = address - (uintptr_t)simt_arena.base;
    const uint32_t unwritten = simt_arena.marks_of_32_bytes[at / 32].unwritten_mask >> (at & ~(size_t)7) % 32;

    return at % 8 == 4 ? (unwritten & 0xff) != 0xff : (unwritten & 0xf) != 0xf;
}

void simt_copy_unwritten_marks(size_t destination, size_t source, size_t bytes)
{
    const bool backwards = destination > source;

    for (size_t i = 0; i < bytes; i++) {
        const size_t at = backwards ? bytes - 1 - i : i;

        simt_set_unwritten_marks(destination + at, 1,
                                 simt_arena.marks_of_32_bytes[(source + at) / 32].unwritten_mask >> (source + at) % 32 &
                                     1);
    }
}

size_t simt_count_unwritten_bytes(size_t begin, size_t bytes, size_t *first_unwritten)
{
    size_t count = 0;

    for (size_t at = begin; at < begin + bytes; at++) {
        const uint32_t unwritten = simt_arena.marks_of_32_bytes[at / 32].unwritten_mask;

        if (unwritten == 0)
            at |= 31;
        else if ((unwritten >> at % 32 & 1) &&
                 !simt_arena_unwritten_bytes_may_be_padding((uintptr_t)simt_arena.base + at / 4 * 4))
            *first_unwritten = count++ ? *first_unwritten : at;
    }
    return count;
}

void simt_arena_clear_recorded_accesses(void)
{
    for (size_t i = 0; i < simt_arena.used_end / 4; i++) {
        simt_arena.shadow[i].packed_write &= WORD_STATE_MASK;
        simt_arena.shadow[i].write_epoch = simt_arena.shadow[i].read_epoch = simt_arena.shadow[i].packed_readers = 0;
    }
}

size_t simt_arena_high_water_words(void)
{
    return simt_arena.used_end / 4;
}
