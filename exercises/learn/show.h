/** @file show.h  Output for learners about an exercise, a grading and their progress. */
#ifndef SHOW_H
#define SHOW_H

#include "learn.h"
#include "verdict.h"

#include <stdint.h>

/** The result of grading a file. */
struct grading_result {
    const struct exercise *exercise;
    uint64_t seed;
    bool on_gpu;
    bool show_output;              /**< the learner requested the program's output */
    bool is_watching;              /**< the caller shows the next exercise */
    const char *messages;          /**< the compiler's messages */
    const struct verdict *verdict; /**< NULL if the file did not compile */
    double seconds;                /**< time for building and running */
};

/** Shows "[####....]  4 of 17 passed". */
void show_progress(const struct learn_session *learn);

/** Shows the exercise's title, the file that describes the task, and the learner's file. */
void show_exercise_title_and_files(const struct learn_session *learn, const struct exercise *exercise);

/** Shows the result of a grading, the first failure, and the commands to use next. */
void show_grading_result(const struct learn_session *learn, const struct grading_result *graded);

/** Shows a solution's text, with its comments filled to the terminal's width. */
void show_solution(const struct learn_session *learn, const char *text);

/** Shows every exercise, one per line. */
void show_exercise_list(const struct learn_session *learn);

/** Shows the next exercise, or reports that all have been passed. */
void show_next_exercise_or_all_passed(const struct learn_session *learn, const struct exercise *next);

#endif
