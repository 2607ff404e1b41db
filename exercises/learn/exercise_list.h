/** @file exercise_list.h  The exercises there are, from catalogue.h. */
#ifndef EXERCISE_LIST_H
#define EXERCISE_LIST_H

#include <stddef.h>

enum exercise_kind { WRITE, MEND, BUDGET, PREDICT, EXTEND };

struct exercise {
    const char *name; /**< its folder's */
    int chapter;
    enum exercise_kind kind;
    int difficulty; /**< 1 to 3 */
    const char *title;
};

extern const struct exercise exercise_list[];
extern const size_t num_exercises; /**< at least 1, at most MAX_EXERCISES */

enum { MAX_EXERCISES = 64 };

/** "write", "mend", ... */
const char *exercise_kind_word(enum exercise_kind kind);

/** "*", "**" or "***". */
const char *exercise_stars(const struct exercise *exercise);

#endif
