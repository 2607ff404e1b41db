/**
 * @file base/atomic_file.h
 * @brief Writes a file completely or not at all: the data goes to a temporary file in the same directory, which then
 *        replaces the file.
 *
 * A program that exits early or is killed by a signal (SIGINT, SIGTERM or SIGHUP, unless it ignores or catches the
 * signal) first removes the temporary files. Not thread-safe.
 */
#ifndef ATOMIC_FILE_H
#define ATOMIC_FILE_H

#include "base/error.h"

#include <stdio.h>

struct atomic_file {
    const char *message_prefix; /**< prefix of messages, such as "--trace: "; "" if no flag gave the path */
    char *path;
    char *temporary_path;
    FILE *stream; /**< the stream that the caller writes to */
};

/**
 * Creates a temporary file in the directory of `path`. Returns its descriptor, or -1 with errno set. Stores its
 * allocated name in *temporary_path, which atomic_file_remove_and_free_temporary() frees.
 */
int atomic_file_create_temporary(const char *path, char **temporary_path);

/** Removes the temporary file, unless it has been renamed, and frees its name, which may be NULL. Preserves errno. */
void atomic_file_remove_and_free_temporary(char *temporary_path);

/**
 * Opens a temporary file for `path`. Returns false with an error if `path` is not a regular file or cannot be created.
 */
bool atomic_file_open(struct atomic_file *file, const char *message_prefix, const char *path, struct error *error);

/**
 * Moves all temporary files to their paths or, if an error occurs, none of them. Ignores files that were never opened.
 * atomic_files_discard() is not needed afterwards.
 */
bool atomic_files_commit(struct atomic_file *files, int num_files, struct error *error);

/**
 * Removes the temporary files and leaves the paths unchanged. Ignores files that were never opened or are already
 * committed.
 */
void atomic_files_discard(struct atomic_file *files, int num_files);

#endif
