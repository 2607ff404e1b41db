/** @file base/standard_output.h  Checks that a program's output could be written, so that a failure is reported. */
#ifndef STANDARD_OUTPUT_H
#define STANDARD_OUTPUT_H

#include "base/error.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/**
 * Opens /dev/null for every closed standard stream, so that no file opened later gets its descriptor, and ignores
 * SIGXFSZ, so that a file that grows too large is reported as an error. main() must call it first.
 */
static inline void standard_streams_reserve(void)
{
    signal(SIGXFSZ, SIG_IGN);
    for (int next = 0; next <= STDERR_FILENO;) {
        next = open("/dev/null", O_RDONLY); /* the lowest free descriptor; writing to it will fail */
        if (next < 0)
            return;
        if (next > STDERR_FILENO)
            close(next);
    }
}

/** Flushes standard output. Returns false with an error if something printed so far could not be written. */
static inline bool standard_output_flush(struct error *error)
{
    return (fflush(stdout) == 0 && !ferror(stdout)) || error_set(error, "standard output: cannot be written");
}

#endif
