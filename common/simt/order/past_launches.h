/**
 * @file past_launches.h
 * @brief The latest launches of a stream. A launch with programmatic stream serialization may overlap earlier launches
 *        until it waits. Used by stream_work.c, which keeps them, and by happens_before.c.
 */
#ifndef SIMT_PAST_LAUNCHES_H
#define SIMT_PAST_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past_launch {
    uint64_t work_position; /**< position among the work submitted to all streams */
    const char *name;
    uintptr_t call_site;
    uint32_t first_epoch, end_epoch; /**< it ran at the epochs in [first_epoch, end_epoch) */
    bool has_synced_dependency;      /**< a thread of this launch has waited, so it ends after the previous launch */
};

/** Launches submitted consecutively to one stream, oldest first. */
struct past_launches {
    struct past_launch *launches;
    size_t num_launches, capacity;
};

#endif
