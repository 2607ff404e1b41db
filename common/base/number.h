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

/**
 * Parses element `index` of a list, "4,1,3", as a count from 0 to `most`, and moves *at, where the element begins, to
 * the next one. `owner` is what has a count, as in "expert": the error for an empty element names it.
 */
bool parse_list_element(const char *flag, const char *list, int index, const char **at, int64_t most, const char *owner,
                        int64_t *value, struct error *error);

/** Parses all of `text` as a finite number. On failure, the error names the option --`flag`. */
bool parse_float(const char *flag, const char *text, float *value, struct error *error);

#endif
