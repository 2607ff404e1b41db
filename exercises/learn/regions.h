/**
 * @file regions.h
 * @brief The parts of an exercise that are the learner's: what lies between `// TODO name` and `// END name`.
 *
 * A marker is a line that holds nothing else, spaces around it aside. A name is of a-z, 0-9 and _. The lines of the
 * markers themselves belong to the exercise. Lines count from 1.
 */
#ifndef REGIONS_H
#define REGIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_REGIONS = 16, REGION_NAME_SIZE = 64 };

/** A text and the name that messages and compilers give it. */
struct text {
    const char *path; /**< the caller's; only shown, never opened */
    const char *text; /**< the caller's; `size` characters, then a 0 */
    size_t size;
};

struct region {
    char name[REGION_NAME_SIZE];
    size_t begin, end; /**< the learner's lines, in characters: [begin, end) of the text; whole lines */
    int first_line;    /**< the number of the line at `begin`: the one after the marker */
    int last_line;     /**< the number of the line with // END */
};

struct regions {
    struct region region[MAX_REGIONS];
    int count;
};

/**
 * Finds the regions of an exercise. False with one line, PATH:LINE: and what is wrong: a region that is not closed, is
 * opened inside another or twice, an END without its TODO, or no region at all.
 */
bool regions_find(const struct text *text, struct regions *regions, struct error *error);

/**
 * Puts the texts of the answers' regions in place of the exercise's. Answers hold regions, blank lines and lines that
 * begin with // between them, nothing else; each is one of the exercise's. A region that `answers` does not have is
 * taken from `rest`; with no `rest` (NULL) it is an error. `#line` directives make compilers and the simulator name the
 * file that a line comes from. On success *filled is the text, ending with a 0, for the caller to free().
 */
bool regions_fill(const struct text *exercise, const struct text *answers, const struct text *rest, char **filled,
                  struct error *error);

/**
 * Compares what lies outside the regions: a learner's file must be the exercise's there, but for white space at the end
 * of a line and blank lines at the end. False with one line that names the first line that differs and what was there.
 */
bool regions_same_outside(const struct text *exercise, const struct text *learner, struct error *error);

/** Whether every region's text is what the exercise came with: nobody has started. Both must have the same regions. */
bool regions_untouched(const struct text *exercise, const struct text *learner);

#endif
