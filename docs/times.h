/** @file times.h  Tables of recorded times, in Markdown. */
#ifndef TIMES_H
#define TIMES_H

#include "harness/core/error.h"

#include <stdbool.h>
#include <stdio.h>

enum { TIMES_MAX_CHAPTERS = 32, TIMES_MAX_SOURCES = 256, TIMES_NAME_SIZE = 64 };

/** Where results come from, and the hash of every source that they may have measured as it is now. */
struct times_origin {
    const char *directory;
    struct {
        char hash[65], path[256];
    } sources[TIMES_MAX_SOURCES];
    int num_sources;
};

/** Fills in the hashes. Returns false with the reason. */
bool times_read_sources(struct times_origin *origin, struct error *error);

/** What a table is of. */
struct times_request {
    bool align;       /**< else the gate */
    bool small;       /**< align: of few tokens, by the small kernel and by the large one */
    char dtype[8];    /**< gate */
    int block_size;   /**< align */
    int num_experts;  /**< align, small */
    char dist[16];    /**< of the input: "router", or in align one that is generated */
    char results[32]; /**< how the names of the results' files end, before .json */
    char chapters[TIMES_MAX_CHAPTERS][TIMES_NAME_SIZE]; /**< or a folder of the results, a slash and a twin in it */
    int num_chapters;                                   /**< 0: all of them */
};

/**
 * Reads what stands in a marker, "f32" or "align 64" or "align 64 uniform" and then chapters if not all are wanted, or
 * "small 64" and chapters, and cuts it up. A twin is a chapter's kernel, built with another definition and recorded in a
 * folder of its own: "without_room/10_fill_packed". The chapters end up in the course's order. Returns false with the reason.
 */
bool times_parse(char *words, const struct times_origin *origin, struct times_request *request, struct error *error);

/**
 * Writes the table: a library's times, each chapter's, the floor; what is not recorded is "-", and a source that has changed
 * since is marked. Below it, where the figures come from. Returns false if a file cannot be read or understood.
 */
bool times_write(FILE *out, const struct times_origin *origin, const struct times_request *request,
                 struct error *error);

/** The hash of a source as it is now, or NULL if there is no such source. */
const char *times_find_hash(const struct times_origin *origin, const char *path);

enum { TIMES_MAX_ROWS = 16, TIMES_US_SIZE = 32 };

/** A chapter's times beside those of the chapter before, from one run. */
struct times_step {
    struct {
        int num_tokens;
        double before_us, here_us; /**< 0 is none */
    } rows[TIMES_MAX_ROWS];
    int num_rows;      /**< 0: nothing is recorded */
    bool old;          /**< the kernel is not the one that was timed */
    char host[32];     /**< "16 threads" where the chapter before ran on the host, else "" */
    char source[1024]; /**< in Markdown: what recorded them, when and how */
};

/** Reads the times of a chapter, f32 or blocks of 64, router data. Returns false if a file cannot be understood. */
bool times_read_step(const struct times_origin *origin, const char *chapter, struct times_step *step,
                     struct error *error);

/** A time with three digits that count, or "-" if it is none. Returns `text`. */
const char *times_format(double us, char text[TIMES_US_SIZE]);

enum { TIMES_MAX_POINTS = 32, TIMES_MAX_LINES = TIMES_MAX_CHAPTERS + 3 };

/** What a line of a plot is of. */
enum times_kind { TIMES_LIBRARY, TIMES_HOST, TIMES_CHAPTER, TIMES_FLOOR };

/** A line of a plot: the recorded medians, by number of tokens in ascending order. */
struct times_line {
    enum times_kind kind;
    char label[TIMES_NAME_SIZE];
    bool old; /**< its source is not what it was */
    int num_points;
    struct {
        int num_tokens;
        double us;
    } points[TIMES_MAX_POINTS];
};

/** A plot's lines: a library's, chapters, the floor. */
struct times_lines {
    struct times_line lines[TIMES_MAX_LINES];
    int num_lines;
    char source[256]; /**< the machine, the toolkit and the day or days, without what would be markup */
};

/**
 * Reads all that is recorded of the chapters that the request names, beside PyTorch replayed from a graph, eager and compiled,
 * or CUB. Returns false if a result is missing, cannot be read or has no times.
 */
bool times_read_lines(const struct times_origin *origin, const struct times_request *request, struct times_lines *lines,
                      struct error *error);

#endif
