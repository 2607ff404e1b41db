/** @file base/standard_output.h  What a program prints arrives, or the program says that it did not. */
#ifndef STANDARD_OUTPUT_H
#define STANDARD_OUTPUT_H

#include "base/error.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/**
 * First of all in main(): a stream that is closed stays so, and no file that is opened later takes its place. And a
 * file that grows too large is an error to report, not a reason to die.
 */
static inline void standard_streams_keep(void)
{
    signal(SIGXFSZ, SIG_IGN);
    for (int next = 0; next <= STDERR_FILENO;) {
        next = open("/dev/null", O_RDONLY); /* the lowest that is free; writing to it fails */
        if (next < 0)
            return;
        if (next > STDERR_FILENO)
            close(next);
    }
}

/** False with one line if something printed so far cannot be written. */
static inline bool standard_output_arrives(struct error *error)
{
    return (fflush(stdout) == 0 && !ferror(stdout)) || error_set(error, "standard output: cannot be written");
}

#endif
