/** @file place.h  Where the repository is, and how its files are called where the learner stands. */
#ifndef PLACE_H
#define PLACE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

struct place {
    char root[PATH_MAX];   /**< whole, without a slash at the end */
    char prefix[PATH_MAX]; /**< in front of a path from the root: "", "../" or "/home/me/course/" */
};

/**
 * Finds the root, which lies above this program's own file and holds build.ninja and exercises/, and makes it the
 * working directory. False with one line.
 */
bool place_find(struct place *place, struct error *error);

#endif
