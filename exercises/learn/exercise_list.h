/** @file exercise_list.h  The list of exercises, which the build generates from their README.md files. */
#ifndef EXERCISE_LIST_H
#define EXERCISE_LIST_H

#include "base/error.h"

#include <stddef.h>

/**
 * The learner's task: write missing code, fix broken code, meet a budget, predict counters and measure them, or extend
 * working code.
 */
enum exercise_kind { EXERCISE_WRITE, EXERCISE_FIX, EXERCISE_BUDGET, EXERCISE_PREDICT, EXERCISE_EXTEND };

struct exercise {
    const char *name; /**< the folder's name */
    enum exercise_kind kind;
    int difficulty;    /**< 1 to 3 */
    const char *title; /**< the subject, in at most 44 characters */
};

/** The exercises in the recommended order. */
extern const struct exercise exercise_list[];
extern const size_t num_exercises; /**< at least 1, at most MAX_EXERCISES */

enum { MAX_EXERCISES = 64 };

/** Returns the kind as a word: "write", "fix", ... */
const char *exercise_kind_word(enum exercise_kind kind);

/** Returns the difficulty as "*", "**" or "***". */
const char *exercise_stars(const struct exercise *exercise);

/**
 * Finds the exercise whose name is or contains `wanted`. Ignores case, a leading path and a trailing ".cu", so that a
 * file name completed by the shell works. On failure, returns NULL with a one-line error that lists the matching names
 * or, if there are none, the nearest names.
 */
const struct exercise *exercise_find(const char *wanted, struct error *error);

/** Returns whether an exercise's name begins with the name that the learner gave, which may be a path. */
bool exercise_begins_with(const struct exercise *exercise, const char *wanted);

#endif
