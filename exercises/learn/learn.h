/** @file learn.h  What every command of build/learn works with. */
#ifndef LEARN_H
#define LEARN_H

#include "base/error.h"
#include "exercise_list.h"
#include "place.h"
#include "progress.h"
#include "terminal.h"

#include <stdbool.h>
#include <stddef.h>

/** Exit codes. */
enum learn_result { LEARN_PASSED = 0, LEARN_DONE = 0, LEARN_NOT_PASSED = 1, LEARN_BAD = 2, LEARN_NO_DEVICE = 3 };

enum { LEARN_PATH_SIZE = 160 }; /* exercises/mine/NAME.cu, with a number behind */

struct learn {
    const char *command; /**< how the learner calls this program: argv[0] */
    struct place place;
    struct terminal out;
    struct progress progress;
    int lock; /**< -1 while the record is not ours to change */
};

/** exercises/mine/NAME.cu, from the root. */
void learn_file(const struct exercise *exercise, char path[LEARN_PATH_SIZE]);

/** A file in the exercise's folder, from the root. */
void learn_folder_file(const struct exercise *exercise, const char *name, char path[LEARN_PATH_SIZE]);

/** Prints "learn: REASON" on standard error; returns LEARN_BAD. */
int learn_refuse(const struct error *error);

/** Reads the record, to look at. False with one line. */
bool learn_look(struct learn *learn, struct error *error);

/**
 * Makes exercises/mine if need be, waits until no other `learn` is at work there, and reads the record, now ours to
 * change. False with one line; also if Ctrl-C ended the wait.
 */
bool learn_begin(struct learn *learn, struct error *error);

/** Writes the record, and lets others have it. False with one line if it cannot be written. */
bool learn_end(struct learn *learn, struct error *error);

/** Lets others have the record, as it was. */
void learn_drop(struct learn *learn);

/**
 * Makes sure that the learner's copy is there, and that the record has it: made the first time, but not when the
 * learner deleted it. False with one line. Between learn_begin() and learn_end().
 */
bool learn_begin_exercise(struct learn *learn, const struct exercise *exercise, struct error *error);

/** Records that the learner is at this exercise: `next` led there, or it was passed last. Between begin and end. */
void learn_set_at(struct learn *learn, const struct exercise *exercise);

/** The exercise that the learner is at: the first that is not passed, from the recorded one on; NULL if all are. */
const struct exercise *learn_current(const struct learn *learn);

/** Whether the learner has begun the exercise that learn_current() gives, and has not just come from a passed one. */
bool learn_has_begun(const struct learn *learn);

/** The next one after this that is not passed, from the start again after the last; NULL if there is no other. */
const struct exercise *learn_next(const struct learn *learn, const struct exercise *after);

#endif
