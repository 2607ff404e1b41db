/** @file course.h  The repository's root, and the prefix of paths from the learner's directory to it. */
#ifndef COURSE_H
#define COURSE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

struct course {
    char root[PATH_MAX];   /**< full path, without a trailing slash */
    char prefix[PATH_MAX]; /**< for paths relative to the root: "", "../" or "/home/me/course/" */
};

/**
 * Finds the root, the folder above this program's file that holds build.ninja and exercises/, and makes it the working
 * directory. Returns false with a one-line error on failure.
 */
bool course_find(struct course *course, struct error *error);

#endif
