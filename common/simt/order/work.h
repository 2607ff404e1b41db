/**
 * @file work.h
 * @brief Streams and events: what is ordered before what where several launches and copies are under way.
 *
 * Everything runs at once and in order here, but the order that a program may count on is less. A piece of work, which
 * is a launch, a copy or a memset, is ordered after
 *
 *   - what its stream was given before it;
 *   - what the stream waits for by cudaStreamWaitEvent: all that was ordered before the event was recorded;
 *   - what the host had waited for when it was given: by cudaDeviceSynchronize, cudaStreamSynchronize,
 *     cudaEventSynchronize, a query that said it was done, cudaMemcpy, cudaFree, or an asynchronous copy to or between
 *     memory that is not pinned;
 *   - for the legacy default stream and those not made with cudaStreamNonBlocking: all that either was given before the
 *   other.
 *
 * Two pieces of work race if nothing orders them, they have a byte in common, and one writes it; unless both do so by
 * atomics. The host races with work that it has not waited for if it reads what that writes, or writes what it uses;
 * which is seen where the host's code is in a kernel file.
 */
#ifndef SIMT_WORK_H
#define SIMT_WORK_H

#include "stream_clocks.h"
#include "cuda_runtime.h"

/** What work does to a byte; "strong" is what needs no order among its own kind: atomics, and volatile loads. */
enum use { USE_READ, USE_STRONG_READ, USE_WRITE, USE_STRONG_WRITE, NUM_USES };

/** Two pieces of work that race: the current one and an earlier one. */
struct work_race {
    uintptr_t address;
    enum use mine, theirs;
    const char *name; /**< the other's */
    uintptr_t caller;
};

/** Whether some work that the host has not waited for uses the host's memory. */
extern bool simt_streams_use_host;
/** Whether there is memory that the host and kernels have together: then it is of interest what launches do. */
extern bool simt_streams_share_host;

/** A piece of work is given to a stream at a place in the host's code. It is current until the next is. */
cudaError_t simt_work_begin(cudaStream_t stream, const char *name, uintptr_t caller);
/** The current work does something to some bytes. What does not fit into memory is forgotten. */
void simt_work_uses(enum use use, uintptr_t begin, size_t bytes);
/** The same for memory of the host's own, which it may not touch before it has waited. */
void simt_work_uses_host(enum use use, uintptr_t begin, size_t bytes);
/** All that the current work does has been said. False: it races with another; then all work is forgotten. */
bool simt_work_end(struct work_race *race);
/** The same, and what it is refused with. */
cudaError_t simt_work_check(void);
/**
 * The current work was a launch that ran at these epochs; what it does is said if need be by simt_work_scan(), then or
 * later.
 */
void simt_work_ran(uint32_t first_epoch, uint32_t last_epoch);
extern void (*simt_work_scan)(uint32_t first_epoch, uint32_t last_epoch);

/** The host waits for the work of a stream, or for all. */
void simt_host_waits(cudaStream_t stream);
void simt_host_waits_for_all(void);
/** The host waits for all that a clock knows; whether that is something which it has not waited for yet. */
void simt_host_knows(const struct stream_clock *clock);
bool simt_is_pending(const struct stream_clock *clock);
/**
 * Whether all that a clock knows is done. The first to ask is told that it is not: an answer, which an H200 does not
 * keep as the last error.
 */
cudaError_t simt_work_query(const struct stream_clock *clock, bool *asked);
/** There was one stream, and now there are two: what work is pending is asked for now. */
void simt_use_several(void);
/** The host reads or writes memory of its own. */
void simt_host_uses(uintptr_t address, size_t bytes, bool store, uintptr_t pc);

#endif
