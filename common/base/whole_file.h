/**
 * @file base/whole_file.h
 * @brief A file that is written as a whole or not at all: to a temporary beside it, which then takes its place.
 *
 * A program that exits in between, or that a signal ends (SIGINT, SIGTERM, SIGHUP, where they are not ignored or
 * caught), removes the temporaries first. For one thread at a time.
 */
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include "base/error.h"

#include <stdio.h>

struct whole_file {
    const char *flag; /**< what messages begin with: "--trace: ", or "" where the path is from no flag */
    char *path;
    char *temporary;
    FILE *stream; /**< to be written to */
};

/**
 * Makes a new file beside `path`, and its name, for whole_file_temporary_gone(). Returns the file, or -1 with errno
 * set.
 */
int whole_file_temporary(const char *path, char **name);

/** Removes the temporary, unless it has a new name by now, and frees its name, which may be NULL. Keeps errno. */
void whole_file_temporary_gone(char *name);

/** False with one line if only a directory, a device or a failure is there to be replaced, or nothing can be made. */
bool whole_file_open(struct whole_file *file, const char *flag, const char *path, struct error *error);

/**
 * Puts the files in their places: all of them, or, with one line, none. Files that were never opened are left out.
 * There is nothing to drop afterwards.
 */
bool whole_files_keep(struct whole_file *files, int count, struct error *error);

/** Leaves the paths as they were. Does nothing to a file that was never opened, or was kept. */
void whole_files_drop(struct whole_file *files, int count);

#endif
