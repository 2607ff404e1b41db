/** @file trace.h  A kernel's trace, as simt_trace_end() writes it, read for pictures and pages. */
#ifndef TRACE_H
#define TRACE_H

#include "harness/core/error.h"

#include <stddef.h>
#include <stdint.h>

enum { TRACE_LANES = 32, TRACE_MAX_WARPS = 32, TRACE_MAX_FILES = 8, TRACE_WORDS = 4, TRACE_TEXT_SIZE = 32 };

enum trace_kind {
    TRACE_SHUFFLE,
    TRACE_VOTE,
    TRACE_WARP_BARRIER,
    TRACE_BLOCK_BARRIER,
    TRACE_SHARED_LOAD,
    TRACE_SHARED_STORE,
    TRACE_GLOBAL_LOAD,
    TRACE_GLOBAL_STORE,
    TRACE_ATOMIC,
    TRACE_RETURN,
    TRACE_KINDS,
};

/** What an event says of one lane. */
struct trace_lane {
    bool known;                 /**< the value is */
    int from;                   /**< shuffle: the lane it reads; itself if it reads none */
    int allocation;             /**< global memory: which, by address; -1 for a __device__ variable */
    int64_t offset;             /**< in shared memory, or in the allocation */
    uint32_t word[TRACE_WORDS]; /**< what it brings, reads or writes: `bytes` of it, the low bits first */
    uint32_t out[TRACE_WORDS];  /**< shuffle, vote: what it receives */
};

/** One operation of one warp. */
struct trace_event {
    enum trace_kind kind;
    int warp;
    int file, line; /**< file: an index in `files`; line 0: nobody knows */
    uint32_t lanes;
    int bytes;
    bool in_global; /**< an atomic */
    int barrier;    /**< block barriers before this one */
    const char *operation;
    struct trace_lane lane[TRACE_LANES];
};

/** A whole trace. Strings live as long as it does. */
struct trace {
    const char *kernel;
    int warps;
    int64_t dynamic_offset, dynamic_bytes; /**< where dynamic shared memory lies in shared memory */
    const char *files[TRACE_MAX_FILES];    /**< the kernel's own is number 0 */
    int num_files;
    struct trace_event *events;
    size_t num_events;
    void *memory; /**< the file that the strings are in */
};

/** Reads a trace. Returns false with one line that names the file; there is then nothing to free. */
bool trace_read(const char *path, struct trace *trace, struct error *error);

void trace_free(struct trace *trace);

/** A shared-memory access: a load, a store or an atomic. */
bool trace_is_shared(const struct trace_event *event);

/**
 * Writes 32 bits as what they are most likely to be: a float of a usual size, infinity, or a whole number. The trace does
 * not know types; small whole numbers have no exponent bits and floats of a usual size have.
 */
void trace_word_text(uint32_t word, char text[TRACE_TEXT_SIZE]);

/** The float that these bits are. */
float trace_float(uint32_t word);

#endif
