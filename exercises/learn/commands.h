/** @file commands.h  What build/learn can be asked for. Each returns an exit code. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "learn/grading.h"
#include "learn/learn.h"

/** What stands behind the command's name. */
struct command_words {
    const char *name; /**< an exercise's name or a part of it; NULL: none was given */
    struct grading grading;
};

/** Shows where the learner is, grades that file, and every other one when it is saved, until Ctrl-C. */
int command_watch(struct learn *learn, const struct command_words *words);

int command_list(struct learn *learn, const struct command_words *words);
int command_run(struct learn *learn, const struct command_words *words);
int command_hint(struct learn *learn, const struct command_words *words);
int command_reset(struct learn *learn, const struct command_words *words);
int command_solution(struct learn *learn, const struct command_words *words);
int command_next(struct learn *learn, const struct command_words *words);

#endif
