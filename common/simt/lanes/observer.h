/**
 * @file observer.h
 * @brief Notifies observers of the events of a launch. The engine does not depend on any particular observer.
 *
 * An observer has a function for each event that it handles, and NULL for the others. It may read its arguments and the
 * state of the lower layers. It decides whether memory is watched, changes nothing else, and must not call a function
 * that runs lanes.
 */
#ifndef SIMT_OBSERVER_H
#define SIMT_OBSERVER_H

#include "lanes.h"

/** A memory instruction of a warp: lane lane_numbers[i] accesses packed_offsets[i], for each i below num_lanes. */
struct memory_request {
    enum event_kind kind;
    unsigned bytes_per_lane;                    /**< number of bytes accessed by each lane; 0 for an EVENT_MBARRIER */
    enum mbarrier_operation mbarrier_operation; /**< for an EVENT_MBARRIER */
    uintptr_t pc;
    lane_mask lanes;
    unsigned num_lanes;
    /** Offsets in the arena, in shared memory or, with EVENT_OFFSET_IN_PROGRAM_DATA, in the program's data. */
    uint64_t packed_offsets[WARP_LANES];
    uint8_t lane_numbers[WARP_LANES]; /**< numbers of the lanes in `lanes`, ascending */
};

enum warp_collective_kind {
    WARP_COLLECTIVE_SHUFFLE,
    WARP_COLLECTIVE_VOTE,
    WARP_COLLECTIVE_SYNCWARP,
    WARP_COLLECTIVE_MMA,
    WARP_COLLECTIVE_MATRIX_MEMORY
};

/** A collective of some lanes of a warp; its results are stored in the warp. */
struct warp_collective {
    const struct warp *warp;
    enum warp_collective_kind kind;
    const char *name; /**< name in the source, for example "__shfl_sync" */
    lane_mask lanes;
    unsigned shuffle_bytes;              /**< size of a shuffle's value */
    unsigned num_tensor_core_operations; /**< number of tensor-core operations, each a 16x16 by 16x8 product */
    uint64_t operands[WARP_LANES];
    int8_t source_lanes[WARP_LANES]; /**< lane that each lane of a shuffle read; -1 if it kept its own value */
};

struct observer {
    void (*block_begins_or_resumes)(uint32_t number); /**< a block begins or resumes */
    void (*blocks_ended)(unsigned num_blocks);
    /**
     * The running lane is about to access memory. Called only while memory is watched (see
     * simt_observe_each_lane_access()).
     */
    void (*watched_lane_accesses)(const void *address, unsigned bytes, enum event_kind kind);
    /**
     * The running lane has issued a bulk copy of `bytes` bytes to an offset in shared memory. Called only while memory
     * is watched.
     */
    void (*watched_lane_issues_bulk_copy)(uint64_t bytes, uint64_t shared_offset);
    /**
     * The running lane has used an mbarrier in a phase; `operand` is the number of arrivals (MBARRIER_INIT), the number
     * of announced bytes (MBARRIER_ARRIVE_EXPECT), the parity (MBARRIER_WAIT), or 0. Called only while memory is
     * watched.
     */
    void (*watched_lane_uses_mbarrier)(uint64_t operand, uint64_t phase);
    void (*lanes_stopped)(const struct warp *warp); /**< all lanes are suspended; their stores have been executed */
    void (*lanes_returned)(lane_mask lanes);
    void (*basic_block_issued)(lane_mask lanes);
    /**
     * Lanes that executed the same basic block branched to different blocks; `pc` is the address of the block that
     * comes first in the source.
     */
    void (*warp_diverged)(uintptr_t pc);
    void (*request_issued)(const struct memory_request *request);
    void (*bulk_copy_issued)(unsigned bytes); /**< the running lane has issued a copy of a row or a tile */
    void (*collective_done)(const struct warp_collective *collective);
    void (*block_barrier_opens)(
        const struct block *block); /**< all warps of the block wait at a barrier, which opens now */
};

/** The registered observers, NULL-terminated. */
extern const struct observer *simt_observers[3];

/** Notifies the observers of an event, for example: NOTIFY_OBSERVERS(request_issued, &request). */
#define NOTIFY_OBSERVERS(event, ...)                                                   \
    for (const struct observer *const *at_ = simt_observers; SIMT_LIKELY(*at_); at_++) \
        if ((*at_)->event)                                                             \
    (*at_)->event(__VA_ARGS__)

#endif
