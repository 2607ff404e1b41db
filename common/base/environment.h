/** @file base/environment.h  Checks of the environment variables that the programs read. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include "base/error.h"

/** Checks SIMT_ORDER, which selects the order of the simulator's threads. On failure the error names it. */
bool simt_order_variable_check(struct error *error);

/** Checks the environment variables that the programs read. On failure the error names the invalid variable. */
bool environment_variables_check(struct error *error);

#endif
