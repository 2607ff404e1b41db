/**
 * @file observer.h
 * @brief What the engine tells of a launch to whoever wants to know. It does not know who does.
 *
 * An observer has a function for each event it wants, and NULL for the others. It may look at what it is given and at
 * the layers below; it says whether memory is watched, changes nothing else, and calls nothing that runs lanes.
 */
#ifndef SIMT_OBSERVER_H
#define SIMT_OBSERVER_H

#include "lanes.h"

/** One memory instruction of a warp: lane[i], in ascending order, accesses offset[i]. */
struct request {
    enum event_kind kind;
    unsigned bytes; /**< of each lane; of an EVENT_MBARRIER the mbarrier_operation */
    uintptr_t pc;
    uint32_t lanes;
    unsigned count;
    uint64_t offset[WARP_LANES]; /**< in the arena, in shared memory or, with EVENT_OUTSIDE, in the program's data */
    uint8_t lane[WARP_LANES];
};

enum warp_collective_kind {
    WARP_COLLECTIVE_SHUFFLE,
    WARP_COLLECTIVE_VOTE,
    WARP_COLLECTIVE_SYNCWARP,
    WARP_COLLECTIVE_MMA,
    WARP_COLLECTIVE_MATRIX_MEMORY
};

/** A collective of some lanes of a warp; the results are in the warp. */
struct warp_collective {
    const struct warp *warp;
    enum warp_collective_kind kind;
    const char *name; /**< "__shfl_sync" */
    uint32_t lanes;
    unsigned bytes;      /**< of a shuffle's operand */
    unsigned operations; /**< on tensor cores, each of 16x16 by 16x8 */
    uint64_t in[WARP_LANES];
    int8_t from[WARP_LANES]; /**< the lane that each lane of a shuffle read, or -1: none, it kept its own */
};

struct observer {
    void (*block_runs)(uint32_t number); /**< it begins or goes on */
    void (*blocks_ended)(unsigned count);
    /** The running lane is about to read or change memory: told only while that is watched, see simt_memory_watch(). */
    void (*lane_accesses)(const void *address, unsigned bytes, enum event_kind kind);
    /**
     * The running lane has started a bulk copy, of `number` bytes to offset `other` in shared memory, or has used an
     * mbarrier, of phase `other`: `number` is arrivals, announced bytes or parity. Told only while memory is watched.
     */
    void (*lane_uses_barrier)(uint64_t number, uint64_t other);
    void (*lanes_stopped)(const struct warp *warp); /**< what they wrote is in memory now */
    void (*lanes_returned)(uint32_t lanes);
    void (*block_issued)(uint32_t lanes);
    void (*warp_diverged)(const struct warp *warp); /**< lanes have gone on from one block to different ones */
    void (*request_issued)(const struct request *request);
    void (*bulk_copied)(unsigned bytes); /**< a row or a tile, by one call of the running lane */
    void (*collective_done)(const struct warp_collective *collective);
    void (*barrier_opens)(const struct block *block); /**< all its warps wait at it and are about to go on */
};

/** Those that are told, the last followed by NULL. */
extern const struct observer *simt_observers[3];

/** Tells them: OBSERVE(request_issued, &request). */
#define OBSERVE(event, ...)                                                            \
    for (const struct observer *const *at_ = simt_observers; SIMT_LIKELY(*at_); at_++) \
        if ((*at_)->event)                                                             \
    (*at_)->event(__VA_ARGS__)

#endif
