/** @file names.h  Which of several names a person means by a part of one. */
#ifndef NAMES_H
#define NAMES_H

#include "harness/core/error.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * Finds the name that `wanted` is, or is a part of; capitals do not matter, and neither do a path in front and ".cu" behind,
 * so that a file's name from the shell will do. False with one line: those that it may mean, or those nearest to it.
 */
bool names_find(const char *const *names, size_t count, const char *wanted, size_t *found, struct error *error);

#endif
