/** @file output.h  A program's output files: all of them complete, or none there. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "harness/core/error.h"
#include "harness/core/npy.h"

/** One array and the name it gets in the output directory. */
struct output_file {
    const char *name;
    const struct npy_array *array;
};

/** Creates the directory if its parent exists, and makes sure that files can be made in it. */
bool output_directory_ready(const char *directory, struct error *error);

/** Writes the files. If one fails, removes those written before it and returns false with the reason. */
bool output_write(const char *directory, const struct output_file *files, int num_files, struct error *error);

#endif
