/** @file learn.h  The state that all commands of build/learn share. */
#ifndef LEARN_H
#define LEARN_H

#include "base/error.h"
#include "exercise_list.h"
#include "course.h"
#include "progress.h"
#include "terminal.h"

#include <stdbool.h>
#include <stddef.h>

/** Exit codes. */
enum learn_exit_code { LEARN_PASSED = 0, LEARN_DONE = 0, LEARN_NOT_PASSED = 1, LEARN_ERROR = 2, LEARN_NO_DEVICE = 3 };

enum { LEARN_PATH_SIZE = 160 }; /* exercises/mine/NAME.cu, with a number appended */

struct learn_session {
    const char *program_path; /**< this program's argv[0] */
    struct course_paths course_paths;
    struct terminal terminal;
    struct progress progress;
    int lock_descriptor; /**< -1 unless this process holds the record's lock */
};

/** Writes the path exercises/mine/NAME.cu, relative to the root. */
void learn_learner_file_path(const struct exercise *exercise, char path[LEARN_PATH_SIZE]);

/** Writes the path of a file in the exercise's folder, relative to the root. */
void learn_exercise_file_path(const struct exercise *exercise, const char *name, char path[LEARN_PATH_SIZE]);

/** Prints "learn: REASON" on standard error; returns LEARN_ERROR. */
int learn_print_error(const struct error *error);

/** Reads the record without locking it. Returns false with a one-line error on failure. */
bool learn_read_progress(struct learn_session *learn, struct error *error);

/**
 * Makes exercises/mine if necessary, waits for the record's lock, which another `learn` may hold, and reads the record,
 * which the caller may then change. Returns false with a one-line error on failure, or if Ctrl-C ended the wait.
 */
bool learn_lock_and_read_progress(struct learn_session *learn, struct error *error);

/** Writes the record and releases its lock. Returns false with a one-line error if it cannot write the record. */
bool learn_write_and_unlock_progress(struct learn_session *learn, struct error *error);

/** Releases the record's lock without writing the record. */
void learn_release_progress_lock(struct learn_session *learn);

/**
 * Makes the learner's copy and its entry in the record if the exercise has not been begun. Returns false with a
 * one-line error on failure or if the learner has deleted the copy. Must be called between
 * learn_lock_and_read_progress() and learn_write_and_unlock_progress().
 */
bool learn_copy_exercise_unless_begun(struct learn_session *learn, const struct exercise *exercise,
                                      struct error *error);

/**
 * Records the exercise that `next` chose or that was passed last, at which learn_current_exercise() resumes. Must be
 * called between learn_lock_and_read_progress() and learn_write_and_unlock_progress().
 */
void learn_set_resume_exercise(struct learn_session *learn, const struct exercise *exercise);

/**
 * Returns the learner's current exercise: the first one, starting at the recorded one, that has not been passed.
 * Returns NULL if all have been passed.
 */
const struct exercise *learn_current_exercise(const struct learn_session *learn);

/**
 * Checks whether the learner has begun learn_current_exercise()'s exercise and not merely reached it by passing another
 * one.
 */
bool learn_has_begun_current_exercise(const struct learn_session *learn);

/** Returns the next exercise that has not been passed, wrapping around at the end, or NULL if there is no other. */
const struct exercise *learn_next_unpassed_exercise(const struct learn_session *learn, const struct exercise *after);

#endif
