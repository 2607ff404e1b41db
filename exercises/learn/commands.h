/** @file commands.h  What build/learn can be asked for. Each returns an exit code. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "learn.h"

#include <stdint.h>

/** How a file is graded. */
struct grading {
    bool has_seed; /**< else a fresh one is taken */
    uint64_t seed;
    bool gpu;
    bool show_output;
    bool watching; /**< whoever asked says what comes after a pass */
    /** A file for the trace of one launch: nothing is judged or shown but what does not compile; or NULL. */
    const char *trace;
};

/**
 * Makes the learner's copy if it was never made, compiles it, runs its grader, notes the outcome and shows it. Returns
 * an exit code. What Ctrl-C ended early is neither noted nor shown.
 */
int grade_file(struct learn *learn, const struct exercise *exercise, const struct grading *grading);

/** What stands behind the command's name. */
struct command_words {
    const char *name; /**< an exercise's name or a part of it; NULL: none was given */
    struct grading grading;
};

/** The exercise that was named, or the one that the learner is at. NULL with one line. */
const struct exercise *named_or_current(struct learn *learn, const char *wanted, struct error *error);

/** Shows where the learner is, grades that file, and every other one when it is saved, until Ctrl-C. */
int command_watch(struct learn *learn, const struct command_words *words);

int command_list(struct learn *learn, const struct command_words *words);
int command_run(struct learn *learn, const struct command_words *words);
int command_hint(struct learn *learn, const struct command_words *words);
int command_reset(struct learn *learn, const struct command_words *words);
int command_solution(struct learn *learn, const struct command_words *words);
int command_step(struct learn *learn, const struct command_words *words);
int command_next(struct learn *learn, const struct command_words *words);

#endif
