/** @file parallel/program.h  The program of a chapter on several ranks, called by the chapter's main.c. */
#ifndef PARALLEL_PROGRAM_H
#define PARALLEL_PROGRAM_H

#include "harness/align/align.h"
#include "harness/parallel/layer.h"

/** A chapter: the implementations that compute a rank's experts, and the paths that bring tokens to them. */
struct parallel_chapter {
    const char *name;
    const char *aligned_by; /**< in messages: the chapter whose align kernels are used */
    int most_experts;       /**< largest number of experts that these kernels support */
    size_t (*align_workspace_bytes)(const struct align_problem *problem);
    struct moe_implementation experts;    /**< for the problems that it supports; the program has the same needs */
    struct moe_implementation otherwise;  /**< for all other problems */
    parallel_path *paths[NUM_DISPATCHES]; /**< one for each word of --dispatch */
};

/**
 * Runs a chapter's program as one rank: command line, input, run, check, report. Returns the process's exit code.
 */
int parallel_main(int argc, char **argv, const struct parallel_chapter *chapter);

#endif
