/**
 * @file regions.h
 * @brief The learner's parts of an exercise: the lines between `// TODO name` and `// END name`.
 *
 * A marker is alone on its line, except for spaces. A name consists of a-z, 0-9 and _. The markers' lines belong to the
 * exercise, not to the learner. Lines are numbered from 1.
 */
#ifndef REGIONS_H
#define REGIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_REGIONS = 16, REGION_NAME_SIZE = 64 };

/** A text, and its name in messages and for compilers. */
struct named_text {
    const char *path; /**< owned by the caller; only shown, never opened */
    const char *text; /**< owned by the caller; `size` characters and a NUL */
    size_t size;
};

struct region {
    char name[REGION_NAME_SIZE];
    size_t begin, end; /**< character range of the learner's lines: [begin, end), complete lines */
    int first_line;    /**< number of the line at `begin`, the one after the marker */
    int last_line;     /**< number of the line with // END */
};

struct regions {
    struct region region[MAX_REGIONS];
    int num_regions;
};

/**
 * Finds the regions of an exercise. On failure, returns false with a one-line error of the form PATH:LINE: MISTAKE.
 * Mistakes are a region that is not closed, is inside another region or has a name used before, an END without its
 * TODO, and a text without regions.
 */
bool regions_find(const struct named_text *text, struct regions *regions, struct error *error);

/**
 * Replaces the exercise's regions with the answers' regions. Answers contain only regions of the exercise and, between
 * them, blank lines and lines that begin with //. A region that `answers` lacks is taken from `fallback`; if `fallback`
 * is NULL, the missing region is an error. With `#line` directives, compilers and the simulator name the file that a
 * line comes from. On success *filled is the NUL-terminated text, which the caller frees.
 */
bool regions_fill(const struct named_text *exercise, const struct named_text *answers,
                  const struct named_text *fallback, char **filled, struct error *error);

/**
 * Compares the texts outside the regions, except for white space at the ends of lines and blank lines at the end.
 * Returns false with a one-line error that names the learner's first differing line and quotes the exercise's line.
 */
bool regions_check_same_outside(const struct named_text *exercise, const struct named_text *learner,
                                struct error *error);

#endif
