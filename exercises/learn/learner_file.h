/** @file learner_file.h  The learner's copies of the exercises: made, read, set aside, never overwritten. */
#ifndef LEARNER_FILE_H
#define LEARNER_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A file larger than this is no exercise. */
enum { LEARNER_FILE_MAX_BYTES = 1 << 20 };

/**
 * Reads a file of text: at least one character that is no blank, no NUL, at most LEARNER_FILE_MAX_BYTES. The caller
 * frees the text, which ends with a NUL. False with one line that begins with `path`.
 */
bool learner_file_read(const char *path, char **text, struct error *error);

/** Copies the exercise to a path where nothing may be yet. False with one line; nothing is left there then. */
bool learner_file_make(const char *exercise, const char *path, struct error *error);

/**
 * Renames what is at `path`, be it a file or not, to the first free of PATH.1, PATH.2, ..., and puts that name into
 * `kept`, or "" if nothing was there. False with one line.
 */
bool learner_file_set_aside(const char *path, char *kept, size_t size, struct error *error);

#endif
