/** @file times.h  Tables of recorded times, in Markdown. */
#ifndef TIMES_H
#define TIMES_H

#include "harness/error.h"

#include <stdbool.h>
#include <stdio.h>

enum { TIMES_MOST_CHAPTERS = 32, TIMES_MOST_SOURCES = 256, TIMES_NAME_SIZE = 64 };

/** Where results come from, and the hash of every source that they may have measured as it is now. */
struct times_origin {
    const char *directory;
    struct {
        char hash[65], path[256];
    } sources[TIMES_MOST_SOURCES];
    int num_sources;
};

/** Fills in the hashes. Returns false with the reason. */
bool times_read_sources(struct times_origin *origin, struct error *error);

/** What a table is of. */
struct times_request {
    bool align;       /**< else the gate */
    char dtype[8];    /**< gate */
    int block_size;   /**< align */
    char dist[16];    /**< of the input: "router", or in align one that is generated */
    char results[32]; /**< how the names of the results' files end, before .json */
    char chapters[TIMES_MOST_CHAPTERS][TIMES_NAME_SIZE];
    int num_chapters; /**< 0: all of them */
};

/**
 * Reads what stands in a marker, "f32" or "align 64" or "align 64 uniform" and then chapters if not all are wanted, and
 * cuts it up. The chapters end up in the course's order. Returns false with the reason.
 */
bool times_parse(char *words, const struct times_origin *origin, struct times_request *request, struct error *error);

/**
 * Writes the table: a library's times, each chapter's, the floor; what is not recorded is "-", and a source that has changed
 * since is marked. Below it, where the figures come from. Returns false if a file cannot be read or understood.
 */
bool times_write(FILE *out, const struct times_origin *origin, const struct times_request *request,
                 struct error *error);

#endif
