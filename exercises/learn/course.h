/** @file course.h  The repository's root, and the prefix of paths from the learner's directory to it. */
#ifndef COURSE_H
#define COURSE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

struct course_paths {
    char root[PATH_MAX];        /**< full path, without a trailing slash */
    char root_prefix[PATH_MAX]; /**< for paths relative to the root: "", "../" or "/home/me/course/" */
};

/**
 * Finds the root, that is, the folder above this executable in which build.ninja and exercises/ lie, and makes it the
 * working directory. Returns false with a one-line error on failure.
 */
bool course_enter_root(struct course_paths *course, struct error *error);

#endif
