/** @file base/whole_file.h  A file that is written as a whole or not at all: to a temporary beside it, then renamed. */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include "base/error.h"

#include <stdio.h>

struct whole_file {
    const char *path; /**< the caller's */
    char *temporary;
    FILE *stream; /**< to be written to */
};

/** Makes a new file beside `path`, and its name, which the caller frees. Returns the file, or -1 with errno set. */
int whole_file_temporary(const char *path, char **name);

/**
 * False with one line that begins with `flag` ("--trace: ", or "" where the path is from no flag) and the path if only
 * a directory, a device or a failure is there to be replaced.
 */
bool whole_file_open(struct whole_file *file, const char *flag, const char *path, struct error *error);

/** Gives the file its name. False with one line if it cannot be written; the path is then as it was. */
bool whole_file_keep(struct whole_file *file, const char *flag, struct error *error);

/** Leaves the path as it was. Does nothing to a file that was never opened, or was kept. */
void whole_file_drop(struct whole_file *file);

#endif
