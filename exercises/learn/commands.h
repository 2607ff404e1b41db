/** @file commands.h  The commands of build/learn, each of which returns an exit code. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "learn.h"

#include <stdint.h>

/** The options for grading a file. */
struct grading_options {
    bool has_seed; /**< a seed was given; otherwise, a fresh one is used */
    uint64_t seed;
    bool on_gpu;
    bool show_output;
    bool is_watching; /**< after a pass, the caller shows the next exercise */
    /** The file for the trace of one launch, or NULL. With a trace, only compile errors are shown. */
    const char *trace_path;
};

/**
 * Makes the learner's copy if it was never made, compiles it, runs its grader, records the result and shows it. Returns
 * an exit code. If Ctrl-C ended the run early, nothing is recorded or shown.
 */
int learn_grade_exercise_and_show_result(struct learn_session *learn, const struct exercise *exercise,
                                         const struct grading_options *grading);

/** The words after the command's name, parsed. */
struct parsed_command {
    const char *exercise_name; /**< an exercise's name or a part of it, or NULL */
    struct grading_options grading;
};

/**
 * Returns the exercise named `wanted`, or the learner's current one if `wanted` is NULL. On failure, returns NULL with
 * a one-line error.
 */
const struct exercise *find_exercise_or_current(struct learn_session *learn, const char *wanted, struct error *error);

/** Shows the learner's current exercise, grades it, and grades every exercise when it is saved, until Ctrl-C. */
int command_watch(struct learn_session *learn, const struct parsed_command *parsed);

int command_list(struct learn_session *learn, const struct parsed_command *parsed);
int command_run(struct learn_session *learn, const struct parsed_command *parsed);
int command_hint(struct learn_session *learn, const struct parsed_command *parsed);
int command_reset(struct learn_session *learn, const struct parsed_command *parsed);
int command_solution(struct learn_session *learn, const struct parsed_command *parsed);
int command_make_stepper_page(struct learn_session *learn, const struct parsed_command *parsed);
int command_next(struct learn_session *learn, const struct parsed_command *parsed);

#endif
