/** @file memory_map.h  The arrays that a traced kernel writes, as far as the source's lines name them. */
#ifndef MEMORY_MAP_H
#define MEMORY_MAP_H

#include "source_text.h"
#include "trace.h"

enum { MAP_NAME_SIZE = 48, MAP_SHARED = -2 };

/** Neighbouring words of one array. */
struct memory_region {
    int space;     /**< MAP_SHARED, or the allocation */
    int64_t first; /**< word, counted from the beginning of the space */
    int64_t count; /**< of words */
    char name[MAP_NAME_SIZE];
};

/** All that is written in the course of a trace. */
struct memory_map {
    struct memory_region *regions;
    int num_regions;
};

/** Finds what the trace writes; `sources` are those of its files. Returns false with the reason, nothing to free. */
bool memory_map_make(const struct trace *trace, const struct source_text *sources, struct memory_map *map,
                     struct error *error);

void memory_map_free(struct memory_map *map);

/** The region that holds the word an event's lane touches first; -1 if it is none that is written. */
int memory_map_find(const struct memory_map *map, const struct trace_event *event, int lane);

/** Where an event's lane accesses memory: MAP_SHARED, or the allocation. */
int memory_space(const struct trace_event *event, int lane);

/** Whether it accesses memory at all. */
bool memory_accesses(const struct trace_event *event);

/** The name of the array that a line of source reads from or writes to; "" if the line has none. */
void memory_name(const struct source_text *source, int line, enum trace_kind kind, char name[MAP_NAME_SIZE]);

#endif
