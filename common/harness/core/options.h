/** @file options.h  Command-line values: every number whole and in range, every word one of a list. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "harness/core/error.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/** Parses a decimal integer from `lowest` to `highest`; the error names `--flag`. */
bool option_integer(const char *flag, const char *text, int64_t lowest, int64_t highest, int64_t *value,
                    struct error *error);

/** The same, into an int. */
bool option_int(const char *flag, const char *text, int lowest, int highest, int *value, struct error *error);

/** Parses a finite decimal number. */
bool option_float(const char *flag, const char *text, float *value, struct error *error);

/** Finds `text` among `count` words; `value` is its place. The error lists the words. */
bool option_word(const char *flag, const char *text, const char *const *words, int count, int *value,
                 struct error *error);

/**
 * Runs argp over the command line without its own messages. `state` is what the parser receives as input; the parser
 * reports through `error`, whose text must be empty at the start. Returns false with one line if anything is wrong.
 */
bool options_run(const struct argp *argp, int argc, char **argv, void *input, struct error *error);

#endif
