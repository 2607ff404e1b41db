/** @file stepper_data.h  A trace as the stepper's page holds it: small, and in the words of the source. */
#ifndef STEPPER_DATA_H
#define STEPPER_DATA_H

#include "memory_map.h"
#include "source_text.h"
#include "trace.h"

#include <stdio.h>

/** Whether an event has a step of its own: of a block barrier, which every warp has in the trace, only the first has. */
bool stepper_shows(const struct trace_event *event, int last_barrier);

/**
 * Writes JSON: "warps"; "regions", each [space, name, first word, number of words], space -2 being shared memory; "values", all texts that
 * a cell can show; "events", each [kind, warp, file, line, lanes, ...] with
 *
 *   shuffle          from, values: what each lane reads, and brings
 *   vote             values, results
 *   block_barrier    number, counted from 1; the warp is -1
 *   accesses         words at once, region, index in the region, then the values of each of the words
 *
 * Columns have an element for each lane that takes part: a number if all are the same, "a:b" for a, a + b, a + 2b ..., else
 * an array. A value is an index in "values", -1 if it is not known. Returns false with the reason.
 */
bool stepper_data_write(FILE *out, const struct trace *trace, const struct memory_map *map, struct error *error);

/** Writes one line that says what an event does, for people. */
void stepper_text_write(FILE *out, const struct trace *trace, const struct memory_map *map,
                        const struct source_text *sources, const struct trace_event *event);

#endif
