/**
 * @file base/standard_output.h
 * @brief Checks that a program's output has been written, so that a full disk or a closed pipe is reported as an error.
 */
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
 * Opens /dev/null for every closed standard stream, so that no later file gets its descriptor, and ignores SIGXFSZ, so
 * that a file that grows too large is reported as an error. Must be called first in main().
 */
static inline void open_closed_standard_streams_ignore_sigxfsz(void)
{
    signal(SIGXFSZ, SIG_IGN);
    for (int next = 0; next <= STDERR_FILENO;) {
        next = open("/dev/null", O_RDONLY); /* gets the lowest free descriptor; writing to it will fail */
        if (next < 0)
            return;
        if (next > STDERR_FILENO)
            close(next);
    }
}

/**
 * Flushes a stream, usually standard output. Returns false with an error if any earlier output could not be written.
 */
static inline bool output_flush(FILE *stream, struct error *error)
{
    errno = 0; /* if only an earlier write failed, its errno has been lost */
    return (fflush(stream) == 0 && !ferror(stream)) ||
           error_set(error, "standard output: cannot be written%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
}

/** Flushes standard output. Returns false with an error if any earlier output could not be written. */
static inline bool standard_output_flush(struct error *error)
{
    return output_flush(stdout, error);
}

#endif
