/** @file child.h  Runs a program as a child within limits, and returns its output and how it ended. */
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
    CHILD_BROKEN_OFF, /**< stopped by child_stop_when()'s function */
};

/** A child's output; a 0 follows. NULL: no output. */
struct child_text {
    char *text;
    size_t size;
};

/** The end of a child. */
struct child_end {
    enum child_how how;
    int exit_code;             /**< of CHILD_EXITED */
    int signal;                /**< of CHILD_DIED */
    bool short_of_memory;      /**< it may have died because it ran out of memory */
    double seconds;            /**< wall time */
    struct child_text output;  /**< on standard output and error, its first 64 KiB */
    struct child_text records; /**< on descriptor 3 */
};

/**
 * Runs arguments[0] with descriptor 3 for records, an empty standard input, and the limits; waits until it ends or is
 * stopped. Every process of its group is gone afterwards. On failure returns false with one line if it could not be
 * started; else child_end_free().
 */
bool child_run(const char *const arguments[], const struct verdict_limits *limits, struct child_end *end,
               struct error *error);

/**
 * Sets the function that child_run() calls some fifty times a second from now on; once it returns other than 0, the
 * child is ended. NULL: none.
 */
void child_stop_when(int (*asked)(void));

void child_end_free(struct child_end *end);

#endif
