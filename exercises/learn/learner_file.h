/** @file learner_file.h  Makes, reads and renames the learner's copies of the exercises; never overwrites a copy. */
#ifndef LEARNER_FILE_H
#define LEARNER_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Largest size of an exercise's file. */
enum { LEARNER_FILE_MAX_BYTES = 1 << 20 };

/**
 * Reads a text file, which must have at least one character other than white space, no NUL and at most
 * LEARNER_FILE_MAX_BYTES bytes. The caller frees the text, which is NUL-terminated. On failure, returns false with a
 * one-line error that begins with `path`.
 */
bool text_file_read(const char *path, char **text, struct error *error);

/**
 * Copies the file at `exercise_path` to `path`, which must not exist. On failure, returns false with a one-line error
 * and leaves no file.
 */
bool learner_file_create(const char *exercise_path, const char *path, struct error *error);

/**
 * Renames the file, folder or link at `path` to the first free name among PATH.1, PATH.2, ..., and stores that name in
 * `new_path`, or "" if the path did not exist. Returns false with a one-line error on failure.
 */
bool path_set_aside(const char *path, char *new_path, size_t size, struct error *error);

#endif
