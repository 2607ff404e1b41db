/** @file base/number.h  Parsers of numbers on a command line. */
#ifndef NUMBER_H
#define NUMBER_H

#include "base/error.h"

#include <stdint.h>

/** Parses all of `text` as a decimal integer from `least` to `most`. False with one line, which names `--name`. */
bool parse_integer(const char *name, const char *text, int64_t least, int64_t most, int64_t *value,
                   struct error *error);

/** Parses all of `text` as a finite number. False with one line, which names `--name`. */
bool parse_float(const char *name, const char *text, float *value, struct error *error);

#endif
