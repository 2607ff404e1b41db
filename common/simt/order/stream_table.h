/**
 * @file stream_table.h
 * @brief The table of streams by their handles, with the work that the next work of each is ordered after. Used by
 *        stream_work.c and by the runtime's calls on streams and events.
 */
#ifndef SIMT_STREAM_TABLE_H
#define SIMT_STREAM_TABLE_H

#include "past_launches.h"
#include "stream_clocks.h"
#include "cuda_runtime.h"

/*
 * A handle combines a number with its generation, so that the handle of a destroyed stream or event is never taken for
 * a later one.
 */
enum { HANDLE_STREAM = 8, HANDLE_EVENT = 12, HANDLE_STEP = 16, GENERATION_SHIFT = 28, NUMBERS = 1 << 24 };

struct stream {
    uint64_t generation; /**< 0: never used */
    bool alive;
    bool blocking;             /**< waits for the legacy default stream and is waited for by it */
    bool queried;              /**< cudaStreamQuery has answered once that it is not done */
    uint64_t last;             /**< position of its latest work */
    uint64_t published;        /**< a clock may include its work up to this position without the work that follows */
    struct stream_clock clock; /**< what its next work is ordered after, besides its own earlier work */
    struct past_launches launches; /**< the launches that it was given last */
};

enum { LEGACY, PER_THREAD, FIRST_OWN };

extern struct stream *simt_streams;
extern size_t simt_stream_count;
/** True if there is more than one stream: only then must the accesses of work to device memory be known. */
extern bool simt_has_several_streams;
/** Position of the latest work. Positions count the work given to all streams. */
extern uint64_t simt_latest_work;
/** Clock of the work that the host has waited for. */
extern struct stream_clock simt_host_clock;

uintptr_t simt_handle_of(size_t number, uint64_t generation, unsigned kind);
/** Reports an invalid handle, with the line of the host's call, and returns the error. */
cudaError_t simt_reject_handle(const char *function, const char *what, uintptr_t caller);
/** Returns the number of a stream, or NUMBERS if there is no such stream. */
size_t simt_stream_number(cudaStream_t stream);
/** Returns a number that has no pending work, adding one if needed. Returns NUMBERS if memory is short. */
size_t simt_idle_stream(void);

/**
 * Adds what the default stream orders before the next work of a stream to the stream's clock. Must be called before the
 * stream is given something. What the host has waited for is ordered before it anyway, because none of it is pending.
 */
void simt_stream_order_default(size_t number);
/** Returns a clock that includes all that a stream has been given. It is valid until the next call. */
const struct stream_clock *simt_stream_publish(size_t number);

#endif
