/** @file place.h  The repository's root, and the prefix of its files' paths as seen from the learner's folder. */
#ifndef PLACE_H
#define PLACE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

struct place {
    char root[PATH_MAX];   /**< full path, without a slash at the end */
    char prefix[PATH_MAX]; /**< for paths relative to the root: "", "../" or "/home/me/course/" */
};

/**
 * Finds the root, the folder above this program's file that holds build.ninja and exercises/, and makes it the working
 * directory. Returns false with one line on failure.
 */
bool place_find(struct place *place, struct error *error);

#endif
