/**
 * @file stream_work.h
 * @brief The order of launches and copies in several streams, and the races between them. Used by the runtime API.
 *
 * The simulator executes each call immediately, in program order, but a program for a GPU must not rely on this order.
 * A work item, which is a launch, a copy or a memset, is ordered after
 *
 *   - the earlier work of its stream. A launch with programmatic stream serialization is not ordered after the launches
 *     immediately before it until one of its threads waits: see happens_before.h;
 *   - the work that the stream waits for through cudaStreamWaitEvent: everything ordered before the event was recorded;
 *   - the work that the host had waited for when it issued the item: by cudaDeviceSynchronize, cudaStreamSynchronize,
 *     cudaEventSynchronize, a query that returned cudaSuccess, cudaMemcpy, cudaFree, or an asynchronous copy to or
 *     between memory that is not pinned;
 *   - for the legacy default stream, the earlier work of all streams not made with cudaStreamNonBlocking; and for
 *     these, the earlier work of the default stream.
 *
 * Two work items race if nothing orders them, both use the same byte, and at least one of them writes it, unless both
 * access the byte with atomics. The host races with work that it has not waited for if it reads what the work writes,
 * or writes what the work uses. The simulator finds such a race only if the host code is in a kernel file.
 */
#ifndef SIMT_STREAM_WORK_H
#define SIMT_STREAM_WORK_H

#include "overlapping_launches.h"
#include "stream_clocks.h"
#include "cuda_runtime.h"

/**
 * The ways in which work uses a byte. Strong uses, which are atomics and volatile loads, need no order among
 * themselves. Stream-ordered allocations and frees must be ordered like writes.
 */
enum work_use { USE_READ, USE_STRONG_READ, USE_WRITE, USE_STRONG_WRITE, USE_ALLOCATE, USE_FREE, NUM_USES };
/** The verb phrase that messages use for each work_use. */
extern const char *const simt_work_use_verbs[NUM_USES];

/** Two work items that race: the current one and an earlier one. */
struct work_race {
    uintptr_t address;
    enum work_use current_use, earlier_use;
    const char *earlier_work_name; /**< name of the earlier work item */
    uintptr_t earlier_call_site;
    /** A wait in the current work's stream for an event that was recorded later, or never: call sites, or 0. */
    uintptr_t vain_wait_site, late_record_site;
};

/** True if some work that the host has not waited for uses the host's memory. */
extern bool simt_pending_work_uses_host_memory;
/**
 * True if there is memory that both the host and kernels may access. The accesses of launches must then be recorded.
 */
extern bool simt_has_pinned_or_managed_memory;

/**
 * Begins a work item, which the host issues to a stream at `call_site`. It is the current work until the next item
 * begins.
 */
cudaError_t simt_work_begin(cudaStream_t stream, const char *name, uintptr_t call_site);
/** Records that the current work uses some bytes. Does nothing if out of memory. */
void simt_work_record_use(enum work_use use, uintptr_t begin, size_t bytes);
/**
 * Does the same as simt_work_record_use() for memory of the host, which the host must not access in a conflicting way
 * before it has waited for the work.
 */
void simt_work_record_host_memory_use(enum work_use use, uintptr_t begin, size_t bytes);
/** Removes from the record all uses of memory that is being freed. */
void simt_work_remove_uses(uintptr_t begin, size_t bytes);
/** Ends the current work, and returns whether it races with other work. If it does, all recorded work is discarded. */
bool simt_work_end_and_find_race(struct work_race *race);
/**
 * Ends the current work as simt_work_end_and_find_race() does, reports the race if there is one, and returns the error
 * for the runtime call.
 */
cudaError_t simt_work_end_and_report_race(void);
/**
 * Records that the current work is a launch. Returns the launches that it may overlap, oldest first, followed by the
 * launch itself. A launch without programmatic serialization (`programmatic` is false) is returned alone. Returns NULL
 * if memory runs out.
 */
const struct overlapping_launches *simt_work_begin_launch(bool programmatic);
/** Records that the next launch of a stream does not overlap any earlier one. */
void simt_work_end_overlap(cudaStream_t stream);
/** Returns the name of the current work, such as the running launch's kernel, and where the host made it. */
const char *simt_current_work(uintptr_t *call_site);
/**
 * Records that the current work was a launch that ran at these epochs, and whether one of its threads has waited for
 * earlier launches. If needed, simt_work_record_launch_uses() records the memory that the launch has used, now or
 * later.
 */
void simt_work_end_launch(uint32_t first_epoch, uint32_t last_epoch, bool has_synced_dependency);
extern void (*simt_work_record_launch_uses)(uint32_t first_epoch, uint32_t last_epoch);

/**
 * Reports pending work that uses a local variable of a function that has returned: its bytes are below `stack_pointer`,
 * which is that of the function that waits.
 */
void simt_check_work_uses_no_returned_locals(const void *stack_pointer);
/** The stack pointer of the function that launches a graph, which simt_local_returned_before_graph_launch() needs. */
extern const void *simt_graph_launch_stack_pointer;
/**
 * Returns whether a host pointer points to a local variable of a function that had returned before the graph was
 * launched.
 */
bool simt_local_returned_before_graph_launch(const void *pointer);
/** Records that the host waits for the work of a stream, or for all work. */
void simt_record_host_wait_for_stream(cudaStream_t stream);
void simt_record_host_wait_for_all_work(void);
/**
 * Mark the beginning and the end of a function that the host enqueued in a stream by calling `name` at `call_site`. The
 * function is work of the stream.
 */
cudaError_t simt_host_function_begins(cudaStream_t stream, const char *name, uintptr_t call_site);
cudaError_t simt_host_function_ends(void);
/** While such a function runs, the frame from which it was called; otherwise 0. */
extern uintptr_t simt_host_function_caller_frame;
/** The host's last wait for an event: where it waits, and where and in which stream the event was recorded. */
struct event_wait {
    uintptr_t wait_site, record_site;
    size_t stream;
    uint64_t recorded_position; /**< position of the latest work when the event was recorded */
    uint64_t waited_position;   /**< position of the latest work when the host waited */
};
extern struct event_wait simt_last_event_wait;
/** Records that the host waits for all work that a clock includes. */
void simt_record_host_wait_for_stream_clock(const struct stream_clock *clock);
/** Returns whether a clock includes work that the host has not waited for. */
bool simt_stream_clock_is_pending(const struct stream_clock *clock);
/**
 * Returns cudaSuccess if all work that a clock includes is done. The first query of pending work returns
 * cudaErrorNotReady, which is a result and not an error: an H200 does not keep it as the last error.
 */
cudaError_t simt_query_stream_clock(const struct stream_clock *clock, bool *has_returned_not_ready);
/**
 * Records the memory that the pending work uses, and from now on that of all work, because there is a second stream.
 */
void simt_record_uses_for_second_stream(void);
/** Checks an access by the host to its own memory against the work that the host has not waited for. */
void simt_check_host_access_races(uintptr_t address, size_t bytes, bool store, uintptr_t pc);

#endif
