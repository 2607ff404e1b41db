/** @file parallel/program.h  The program of a chapter on several ranks, called by the chapter's main.c. */
#ifndef PARALLEL_PROGRAM_H
#define PARALLEL_PROGRAM_H

#include "harness/align/align.h"
#include "harness/parallel/layer.h"

/** A chapter's implementations, which compute a rank's experts, and the functions that bring tokens to them. */
struct parallel_chapter {
    const char *name;
    const char *align_chapter_name; /**< name, for messages, of the chapter whose align kernels are used */
    int max_align_experts;          /**< largest number of experts that the align kernels support */
    size_t (*align_workspace_bytes)(const struct align_problem *problem);
    /** Used for the problems that it supports; its needs are the program's. */
    struct moe_implementation expert_implementation;
    struct moe_implementation fallback_implementation;  /**< used for all other problems */
    parallel_layer_function *run_layer[NUM_DISPATCHES]; /**< one function for each word of --dispatch */
};

/**
 * Runs a chapter's program as one rank: parses the command line, loads the input, runs, checks and reports. Returns the
 * process's exit code.
 */
int parallel_main(int argc, char **argv, const struct parallel_chapter *chapter);

#endif
