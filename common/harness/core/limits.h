/** @file core/limits.h  Checks of single numbers, for every operator. */
#ifndef LIMITS_H
#define LIMITS_H

#include "base/error.h"

#include <stdint.h>

/** Checks the range of a number. On failure the error names the flag, its value and the allowed values. */
bool num_tokens_check(int64_t num_tokens, struct error *error);
bool num_experts_check(int num_experts, struct error *error);
bool count_at_least_one_check(const char *flag, int count, struct error *error);

#endif
