/**
 * @file base/atomic_file.h
 * @brief Writes a file completely or not at all: to a temporary file in the same directory, which then replaces it.
 *
 * A program that exits early, or that a signal ends (SIGINT, SIGTERM, SIGHUP, unless ignored or caught), removes the
 * temporary files first. Not thread-safe.
 */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H

#include "base/error.h"

#include <stdio.h>

struct atomic_file {
    const char *flag; /**< prefix of messages: "--trace: ", or "" if the path is from no flag */
    char *path;
    char *temporary;
    FILE *stream; /**< the caller writes to it */
};

/**
 * Creates a temporary file in the directory of `path`, and its name, which atomic_file_temporary_remove() frees.
 * Returns the descriptor, or -1 with errno set.
 */
int atomic_file_temporary(const char *path, char **name);

/** Removes the temporary file, unless it has been renamed, and frees its name, which may be NULL. Keeps errno. */
void atomic_file_temporary_remove(char *name);

/** Opens a temporary file for `path`. False, with one line, if `path` is no regular file or it cannot be created. */
bool atomic_file_open(struct atomic_file *file, const char *flag, const char *path, struct error *error);

/**
 * Moves the temporary files to their paths: all of them, or none, with one line. Ignores files that were never opened.
 * There is nothing to drop afterwards.
 */
bool atomic_files_commit(struct atomic_file *files, int count, struct error *error);

/** Removes the temporary files and leaves the paths unchanged. Ignores files that were never opened, or were kept. */
void atomic_files_discard(struct atomic_file *files, int count);

#endif
