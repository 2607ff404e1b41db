/** @file stream_table.h  Streams by their handles, and what their next work is ordered after. */
#ifndef SIMT_STREAM_TABLE_H
#define SIMT_STREAM_TABLE_H

#include "stream_clocks.h"
#include "cuda_runtime.h"

/*
 * A handle is a number and how often that was in use before, so that one that is destroyed is never taken for another.
 */
enum { HANDLE_STREAM = 8, HANDLE_EVENT = 12, HANDLE_STEP = 16, GENERATION_SHIFT = 28, NUMBERS = 1 << 24 };

struct stream {
    uint64_t generation; /**< 0: never used */
    bool alive;
    bool blocking;             /**< waits for the legacy default stream, and that for it */
    bool asked;                /**< cudaStreamQuery has said once that it is not done */
    uint64_t last;             /**< position of its latest work */
    uint64_t published;        /**< up to here somebody's clock may tell its work from what follows */
    struct stream_clock clock; /**< what its next work is ordered after */
};

enum { LEGACY, PER_THREAD, FIRST_OWN };

extern struct stream *simt_streams;
extern size_t simt_stream_count;
/** Whether there is more than one stream: only then is it of interest what work in device memory does. */
extern bool simt_streams_several;
/** The position of the latest work: they count all that is given to any stream. */
extern uint64_t simt_latest_work;
/** What the host has waited for. */
extern struct stream_clock simt_host_clock;

uintptr_t simt_handle_of(size_t number, uint64_t generation, unsigned kind);
/** Says at which line of the host's a handle was none. */
cudaError_t simt_refuse_handle(const char *function, const char *what, uintptr_t caller);
/** The number of a stream; NUMBERS if there is no such stream. */
size_t simt_stream_number(cudaStream_t stream);
/** A number that no work is pending of; more are made if need be. NUMBERS: no memory. */
size_t simt_free_stream(void);

/**
 * Before a stream is given something: what the default stream orders is ordered before it. So is what the host has
 * waited for, of which nothing is pending.
 */
void simt_stream_enter(size_t number);
/** All that a stream has been given is known to whoever gets this clock. */
const struct stream_clock *simt_stream_publish(size_t number);

#endif
