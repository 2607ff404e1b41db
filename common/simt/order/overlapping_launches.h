/**
 * @file overlapping_launches.h
 * @brief The latest launches of a stream, which may overlap: a launch with programmatic stream serialization may
 *        overlap earlier launches until it waits. Used by stream_work.c, which keeps them, and by happens_before.c.
 */
#ifndef SIMT_OVERLAPPING_LAUNCHES_H
#define SIMT_OVERLAPPING_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct overlapping_launch {
    uint64_t work_position; /**< position among the work submitted to all streams */
    const char *name;
    uintptr_t call_site;
    uint32_t first_epoch, end_epoch; /**< it ran at the epochs in [first_epoch, end_epoch) */
    bool has_synced_dependency;      /**< a thread of this launch has waited, so it ends after the previous launch */
};

/** Launches submitted consecutively to one stream, oldest first; each may overlap the earlier ones. */
struct overlapping_launches {
    struct overlapping_launch *launches;
    size_t num_launches, capacity;
};

#endif
