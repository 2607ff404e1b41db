/** @file exercise_list.h  The exercises there are: the build makes the list from their README.md files. */
#ifndef EXERCISE_LIST_H
#define EXERCISE_LIST_H

#include "base/error.h"

#include <stddef.h>

/** WRITE the missing piece, MEND what is broken, meet a BUDGET, PREDICT and then measure, EXTEND what there is. */
enum exercise_kind { WRITE, MEND, BUDGET, PREDICT, EXTEND };

struct exercise {
    const char *name; /**< its folder's */
    enum exercise_kind kind;
    int difficulty;    /**< 1 to 3 */
    const char *title; /**< what it is about, in at most 44 characters */
};

/** In the order in which they are best done. */
extern const struct exercise exercise_list[];
extern const size_t num_exercises; /**< at least 1, at most MAX_EXERCISES */

enum { MAX_EXERCISES = 64 };

/** "write", "mend", ... */
const char *exercise_kind_word(enum exercise_kind kind);

/** "*", "**" or "***". */
const char *exercise_stars(const struct exercise *exercise);

/**
 * Finds the exercise whose name is `wanted`, or has it as a part; capitals do not matter, and neither do a path in
 * front and ".cu" behind, so that a file's name from the shell will do. NULL with one line: those that it may mean, or
 * the nearest.
 */
const struct exercise *exercise_find(const char *wanted, struct error *error);

#endif
