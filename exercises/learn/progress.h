/** @file progress.h  What a learner has done so far, in a text file that is replaced as a whole. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { PROGRESS_NAME_SIZE = 64 }; /* an exercise's name, with its end */

/** How the last grading of an exercise ended. */
enum progress_last { PROGRESS_UNGRADED, PROGRESS_FAILED, PROGRESS_PASSED };

/** What is known of one exercise that was begun: its copy was made. */
struct progress_entry {
    char name[PROGRESS_NAME_SIZE];
    enum progress_last last;
    bool passed;  /**< at least once since it was begun */
    bool refused; /**< the solution was asked for once before that */
    int hints;    /**< how many were shown */
};

struct progress {
    struct progress_entry *entries; /**< in no order; exercises that are no more there stay */
    size_t num_entries;
    char at[PROGRESS_NAME_SIZE]; /**< the exercise that the learner went on to or passed last, or "" */
};

/**
 * Reads the file; one that is missing is an empty record. One that cannot be read or understood is an empty record too,
 * and `notice` gets one line about it, else "". With `set_aside`, it is renamed to PATH.damaged, and an older one of
 * that name to PATH.damaged.1, ...: only who may write the record may do so. False with a reason if there is no memory.
 * The caller frees with progress_free() after true.
 */
bool progress_read(const char *path, bool set_aside, struct progress *progress, struct error *notice,
                   struct error *error);

/** Replaces the file. False with a reason; the old file is then as it was. */
bool progress_write(const char *path, const struct progress *progress, struct error *error);

/** The exercise's entry, or NULL. */
struct progress_entry *progress_find(const struct progress *progress, const char *name);

/** The exercise's entry, made if there is none; NULL with a reason if there is no memory or the name is too long. */
struct progress_entry *progress_begin(struct progress *progress, const char *name, struct error *error);

void progress_free(struct progress *progress);

#endif
