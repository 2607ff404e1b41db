/** @file core/limits.h  The limits of one number each, for every operator. */
#ifndef LIMITS_H
#define LIMITS_H

#include "base/error.h"

#include <stdint.h>

/** False, naming the flag, what was given and what is allowed. */
bool num_tokens_check(int64_t num_tokens, struct error *error);
bool num_experts_check(int num_experts, struct error *error);
bool count_check(const char *name, int count, struct error *error);

/** False, naming the variable, if one of the environment's that the programs read makes no sense. */
bool environment_check(struct error *error);

#endif
