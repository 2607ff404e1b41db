/** @file trees.h  Runs a program on the simulator and shows in Markdown how an array in shared memory changes. */
#ifndef TREES_H
#define TREES_H

#include "tree_steps.h"

enum { TREE_MAX_ARGUMENTS = 32, TREE_COMMAND_SIZE = 512 };

/** Which program to run, and which words to show. */
struct tree_request {
    struct tree_range range;
    char command[TREE_COMMAND_SIZE]; /**< the program's name, of letters, digits and '_', and its arguments */
};

/** Reads what stands in a marker: "0-7 PROGRAM ARGUMENT...". Returns false with the reason. */
bool tree_parse(const char *words, struct tree_request *request, struct error *error);

/** Runs the program of that name in the folder `programs` and writes what it did. Returns false with the reason. */
bool tree_write(FILE *out, const char *programs, const struct tree_request *request, struct error *error);

#endif
