/** @file stream_clocks.h  Vector clocks of streams: for each stream, the position up to which its work is known. */
#ifndef SIMT_STREAM_CLOCKS_H
#define SIMT_STREAM_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

/** The clock of a stream, an event or the host. */
struct stream_clock {
    uint64_t *positions; /**< for each stream: its work up to this position is known */
    size_t num_streams;
};

/** Returns the position up to which the clock includes the work of stream number `stream`. */
uint64_t simt_stream_clock_position(const struct stream_clock *clock, size_t stream);
/**
 * Advances the position of a stream in the clock. If memory runs out, the clock does not change, and false races may be
 * reported later.
 */
void simt_stream_clock_advance(struct stream_clock *clock, size_t stream, uint64_t position);
/** Advances each position in `clock` to that in `other` if that is later. */
void simt_stream_clock_join(struct stream_clock *clock, const struct stream_clock *other);

#endif
