/** @file base/number.h  Parsers for the numbers on a command line. */
#ifndef NUMBER_H
#define NUMBER_H

#include "base/error.h"

#include <stdint.h>

/**
 * Parses all of `text` as a decimal integer from `least` to `most`. On failure, the error names the option --`flag`.
 */
bool parse_integer(const char *flag, const char *text, int64_t least, int64_t most, int64_t *value,
                   struct error *error);

/** Parses all of `text` as a finite number. On failure, the error names the option --`flag`. */
bool parse_float(const char *flag, const char *text, float *value, struct error *error);

#endif
