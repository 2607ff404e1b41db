/** @file parallel/program.h  All that the main.c of a chapter on several ranks needs. */
#ifndef PARALLEL_PROGRAM_H
#define PARALLEL_PROGRAM_H

#include "harness/align/align.h"
#include "harness/parallel/layer.h"

/** What a chapter is: who computes the experts that a rank has, and how tokens come to them. */
struct parallel_chapter {
    const char *name;
    const char *aligned_by; /**< in messages: the chapter whose kernels put tokens in order */
    int most_experts;       /**< that it takes */
    size_t (*align_workspace_bytes)(const struct align_problem *problem);
    struct moe_implementation experts;    /**< where it takes a rank's problem; its needs are the program's */
    struct moe_implementation otherwise;  /**< where it does not; takes every problem */
    parallel_path *paths[NUM_DISPATCHES]; /**< for each word of --dispatch */
};

/**
 * Runs a chapter's program as one rank: command line, input, run, check, report. Returns the process's exit code.
 */
int parallel_main(int argc, char **argv, const struct parallel_chapter *chapter);

#endif
