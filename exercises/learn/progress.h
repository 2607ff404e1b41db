/** @file progress.h  A learner's progress, stored in a text file that is always replaced atomically. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { PROGRESS_NAME_SIZE = 64 }; /* an exercise's name and its NUL */

/** The result of the last grading of an exercise. */
enum progress_last_result { PROGRESS_UNGRADED, PROGRESS_FAILED, PROGRESS_PASSED };

/** The record of an exercise that the learner has begun by making a copy. */
struct progress_entry {
    char name[PROGRESS_NAME_SIZE];
    enum progress_last_result last_result;
    bool has_passed;       /**< passed at least once since the learner began it */
    bool solution_refused; /**< the solution was requested; before a pass, the first request is refused */
    int num_hints_shown;   /**< number of hints shown */
};

struct progress {
    struct progress_entry *entries; /**< in no particular order; entries of removed exercises are kept */
    size_t num_entries;
    /** The exercise that the learner went on to or passed last, or "". */
    char resume_exercise_name[PROGRESS_NAME_SIZE];
};

/**
 * Reads the file. A missing file counts as an empty record. A file that cannot be read or parsed also counts as empty;
 * `notice` then describes the problem in one line and is "" otherwise. With `set_damaged_aside`, which requires the
 * record's lock, a damaged file is renamed to PATH.damaged, and an older file of that name to PATH.damaged.1, ...
 * Returns false with a reason if out of memory. If it returns true, the caller must call progress_free().
 */
bool progress_read(const char *path, bool set_damaged_aside, struct progress *progress, struct error *notice,
                   struct error *error);

/** Replaces the file. On failure, returns false with a reason and leaves the old file unchanged. */
bool progress_write(const char *path, const struct progress *progress, struct error *error);

/** Returns the exercise's entry, or NULL. */
struct progress_entry *progress_find(const struct progress *progress, const char *name);

/** Returns the exercise's entry, adding it if necessary. On failure, returns NULL with a reason. */
struct progress_entry *progress_find_or_add(struct progress *progress, const char *name, struct error *error);

void progress_free(struct progress *progress);

#endif
