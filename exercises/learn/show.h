/** @file show.h  What learners see of an exercise, of a grading and of their progress. */
#ifndef SHOW_H
#define SHOW_H

#include "learn.h"
#include "verdict.h"

#include <stdint.h>

/** A graded file, or one that did not compile. */
struct graded {
    const struct exercise *exercise;
    uint64_t seed;
    bool gpu;
    bool show_output;              /**< all that the program printed was asked for */
    bool watching;                 /**< the next exercise is shown by others */
    const char *messages;          /**< the compiler's */
    const struct verdict *verdict; /**< NULL: it did not compile */
    double seconds;                /**< building and running */
};

/** "[####....]  4 of 17 passed". */
void show_progress(const struct learn *learn);

/** What the exercise is, where its task stands and which file is the learner's. */
void show_exercise(const struct learn *learn, const struct exercise *exercise);

/** How a grading ended, what to look at first, and what to do next. */
void show_graded(const struct learn *learn, const struct graded *graded);

/** A solution's text, its comments filled to the terminal's width. */
void show_solution(const struct learn *learn, const char *text);

/** Every exercise, a line each. */
void show_list(const struct learn *learn);

/** "Next: ...", or that all are passed. */
void show_next(const struct learn *learn, const struct exercise *next);

#endif
