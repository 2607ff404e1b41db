/** @file grading.h  Grades a learner's file, once. */
#ifndef GRADING_H
#define GRADING_H

#include "learn/learn.h"

#include <stdint.h>

/** How a file is graded. */
struct grading {
    bool has_seed; /**< else a fresh one is taken */
    uint64_t seed;
    bool gpu;
    bool show_output;
    bool watching; /**< whoever asked says what comes after a pass */
};

/**
 * Makes the learner's copy if it was never made, compiles it, runs its grader, notes the outcome and shows it. Returns an
 * exit code. What Ctrl-C ended early is neither noted nor shown.
 */
int grade_file(struct learn *learn, const struct exercise *exercise, const struct grading *grading);

#endif
