/** @file base/standard_output.h  Checks that a program's output was written, so that it can report if it was not. */
#ifndef STANDARD_OUTPUT_H
#define STANDARD_OUTPUT_H

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/**
 * Opens /dev/null for every closed standard stream, so that no file that is opened later gets its descriptor, and
 * ignores SIGXFSZ, so that a file that grows too large is reported as an error. To be called first in main().
 */
static inline void standard_streams_reserve(void)
{
    signal(SIGXFSZ, SIG_IGN);
    for (int next = 0; next <= STDERR_FILENO;) {
        next = open("/dev/null", O_RDONLY); /* the lowest free descriptor; writing to it fails */
        if (next < 0)
            return;
        if (next > STDERR_FILENO)
            close(next);
    }
}

/** Flushes a stream, usually standard output. False, with one line, if something printed so far cannot be written. */
static inline bool output_flush(FILE *stream, struct error *error)
{
    errno = 0; /* a write that failed earlier has left no reason */
    return (fflush(stream) == 0 && !ferror(stream)) ||
           error_set(error, "standard output: cannot be written%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
}

/** Flushes standard output. False, with one line, if something printed so far cannot be written. */
static inline bool standard_output_flush(struct error *error)
{
    return output_flush(stdout, error);
}

#endif
