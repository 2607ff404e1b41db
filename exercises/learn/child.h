/** @file child.h  A program run as a child within limits: what it wrote, and how it ended. */
#ifndef CHILD_H
#define CHILD_H

#include "verdict.h"

#include <stdbool.h>
#include <stddef.h>

enum child_how {
    CHILD_EXITED,
    CHILD_DIED, /**< by a signal */
    CHILD_TOOK_TOO_LONG,
    CHILD_WROTE_TOO_MUCH,
    CHILD_BROKEN_OFF, /**< as child_stop_when() asked */
};

/** What a child wrote; a 0 follows. NULL: nothing. */
struct child_text {
    char *text;
    size_t size;
};

/** How a child ended. */
struct child_end {
    enum child_how how;
    int exit_code;             /**< of CHILD_EXITED */
    int signal;                /**< of CHILD_DIED */
    bool short_of_memory;      /**< it used so much that this may be why it died */
    double seconds;            /**< wall time */
    struct child_text output;  /**< on standard output and error, its first 64 KiB */
    struct child_text records; /**< on descriptor 3 */
};

/**
 * Runs arguments[0] with descriptor 3 for records, an empty standard input, and the limits; waits until it ends or is
 * stopped. Every process of its group is gone afterwards. False with one line if it could not be started; else
 * child_end_free().
 */
bool child_run(const char *const arguments[], const struct verdict_limits *limits, struct child_end *end,
               struct error *error);

/**
 * From now on, whoever runs a child asks this some fifty times a second, and ends the child once it is not 0. NULL:
 * never.
 */
void child_stop_when(int (*asked)(void));

void child_end_free(struct child_end *end);

#endif
