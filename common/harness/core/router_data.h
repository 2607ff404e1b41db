/** @file core/router_data.h  Where the real router's logits and bias are. */
#ifndef ROUTER_DATA_H
#define ROUTER_DATA_H

#include "harness/core/error.h"

#include <stddef.h>

/**
 * Finds a file of the router data in the tree that the program lies in, or else in the one it was started in. False with
 * a line that says to name the input with `flag` instead.
 */
bool router_data_path(const char *file, const char *flag, char *path, size_t size, struct error *error);

#endif
