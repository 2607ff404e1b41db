/** @file arguments.h  Marks arguments that are structures passed by value. Called by mark_blocks.c. */
#ifndef SIMT_REWRITER_ARGUMENTS_H
#define SIMT_REWRITER_ARGUMENTS_H

#include "source.h"

/** Finds the functions that the file declares, for mark_arguments(). Returns false after an error message. */
bool find_functions(struct source *source);

/** Inserts marks in the function body in [begin, end). Returns false after an error message. */
bool mark_arguments(struct source *source, size_t begin, size_t end);

#endif
