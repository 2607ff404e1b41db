/** @file arguments.h  Reads lists of arguments, and marks arguments that are structures passed by value. */
#ifndef SIMT_REWRITER_ARGUMENTS_H
#define SIMT_REWRITER_ARGUMENTS_H

#include "source.h"

enum { MAX_PARAMETERS = 32 };

/** A list of parameters or arguments, each without the white space around it. */
struct argument_list {
    size_t begin[MAX_PARAMETERS], end[MAX_PARAMETERS];
    unsigned num_arguments;
};

/** Reads the list between the parentheses at `open` and `close`. Returns false if it is too long or not understood. */
bool read_argument_list(const char *code, size_t open, size_t close, struct argument_list *list);

/** Finds the functions that the file declares, for mark_struct_arguments(). Returns false after an error message. */
bool find_declared_functions(struct source *source);

/** Inserts marks in the function body in [begin, end). Returns false after an error message. */
bool mark_struct_arguments(struct source *source, size_t begin, size_t end);

#endif
