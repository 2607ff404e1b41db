/** @file child.h  Runs a program as a child process within limits, and returns its output and how it ended. */
#ifndef CHILD_H
#define CHILD_H

#include "verdict.h"

#include <stdbool.h>
#include <stddef.h>

enum child_outcome {
    CHILD_EXITED,
    CHILD_KILLED, /**< killed by a signal */
    CHILD_TOOK_TOO_LONG,
    CHILD_WROTE_TOO_MUCH,
    CHILD_STOPPED_ON_REQUEST, /**< stopped at the request of the function given to child_set_stop_condition() */
};

/** A child's output, terminated by a NUL; NULL if there is none. */
struct child_output {
    char *text;
    size_t size;
};

/** How a child ended, and its output. */
struct child_result {
    enum child_outcome outcome;
    int exit_code;                    /**< if CHILD_EXITED */
    int signal;                       /**< if CHILD_KILLED */
    bool maybe_out_of_memory;         /**< it may have died because it ran out of memory */
    double wall_seconds;              /**< wall time */
    struct child_output output;       /**< the first 64 KiB of standard output and error */
    struct child_output record_lines; /**< the output on descriptor 3 */
};

/**
 * Runs arguments[0] with descriptor 3 for records, an empty standard input and the limits, and waits until it ends or
 * is stopped. Afterwards, no process of the child's group is left. Returns false with a one-line error if the program
 * could not be started; otherwise the caller must call child_result_free().
 */
bool child_run(const char *const arguments[], const struct verdict_limits *limits, struct child_result *result,
               struct error *error);

/**
 * Sets a function that child_run() calls about fifty times a second; when it returns a non-zero value, the child is
 * stopped. NULL removes the function.
 */
void child_set_stop_condition(int (*should_stop)(void));

void child_result_free(struct child_result *result);

#endif
