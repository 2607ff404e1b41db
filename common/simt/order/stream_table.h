/**
 * @file stream_table.h
 * @brief The table of streams, looked up by their handles, with a clock for each stream of the work that is ordered
 *        before its next work. Used by stream_work.c and by the runtime calls on streams and events.
 */
#ifndef SIMT_STREAM_TABLE_H
#define SIMT_STREAM_TABLE_H

#include "overlapping_launches.h"
#include "stream_clocks.h"
#include "cuda_runtime.h"

/*
 * A handle combines a number with its generation, so that the handle of a destroyed stream or event is never mistaken
 * for that of a later one.
 */
enum {
    HANDLE_KIND_STREAM = 8,
    HANDLE_KIND_EVENT = 12,
    HANDLE_NUMBER_STRIDE = 16,
    HANDLE_GENERATION_SHIFT = 28,
    MAX_HANDLES = 1 << 24
};

struct stream_state {
    uint64_t handle_generation; /**< 0 if never used */
    bool is_alive;
    bool syncs_with_legacy_default; /**< this stream synchronises with the legacy default stream */
    bool has_returned_not_ready;    /**< cudaStreamQuery has already returned cudaErrorNotReady for it */
    uint64_t latest_work_position;  /**< position of the stream's latest work */
    uint64_t snapshot_position;     /**< some clock may include its work up to this position but no later work */
    /** Call site of the last wait for an event that had not been recorded, which waits for nothing, or 0. */
    uintptr_t vain_wait_site;
    const void *vain_wait_event; /**< that event */
    uintptr_t late_record_site;  /**< where it was recorded after the wait, or 0 */
    struct stream_clock clock;   /**< work ordered before the stream's next work, except its own earlier work */
    struct overlapping_launches latest_launches; /**< the latest launches in this stream */
};

enum { STREAM_LEGACY, STREAM_PER_THREAD, FIRST_CREATED_STREAM };

extern struct stream_state *simt_streams;
extern size_t simt_num_streams;
/** True if there is more than one stream. Only then must the accesses of work to device memory be recorded. */
extern bool simt_has_several_streams;
/** Position of the latest work item. Positions number the work in all streams consecutively. */
extern uint64_t simt_latest_work_position;
/** Clock of the work that the host has waited for. */
extern struct stream_clock simt_host_stream_clock;

/** Destroys all streams that cudaStreamCreate has made. */
void simt_streams_destroy(void);
/** Returns the handle of stream or event number `number`; `kind` is HANDLE_KIND_STREAM or HANDLE_KIND_EVENT. */
uintptr_t simt_make_handle(size_t number, uint64_t generation, unsigned kind);
/** Reports an invalid handle, with the source line of the host's call, and returns the error. */
cudaError_t simt_report_invalid_handle(const char *function, const char *handle_kind, uintptr_t call_site);
/** Returns the number of a stream, or MAX_HANDLES if there is no such stream. */
size_t simt_stream_number(cudaStream_t stream);
/**
 * Returns the number of an unused stream without pending work, and adds one to the table if there is none. Returns
 * MAX_HANDLES if out of memory.
 */
size_t simt_stream_find_or_add_unused_number(void);

/**
 * Adds to a stream's clock the work that the legacy default stream orders before the stream's next work: its own or, if
 * this is the legacy default stream, that of the others. Must be called before work is submitted to the stream. Work
 * that the host has waited for need not be added, because it is no longer pending.
 */
void simt_stream_apply_legacy_default_sync(size_t stream_number);
/** Returns a clock that includes all work submitted to a stream so far. The clock is valid until the next call. */
const struct stream_clock *simt_stream_current_clock(size_t stream_number);

#endif
