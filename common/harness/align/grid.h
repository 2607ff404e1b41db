/** @file align_grid.h  A step over a grid of shapes, types, distributions, maps, capacities and places to begin. */
#ifndef ALIGN_GRID_H
#define ALIGN_GRID_H

#include "harness/align/options.h"
#include "harness/core/error.h"
#include "harness/core/run_result.h"

#include <stdio.h>

/**
 * Runs and checks the step on every problem of the grid that it supports, and writes how many there were. Stops at the
 * first that is not right: returns its result, with the reason and the command that repeats it in `error`.
 */
enum run_result align_grid(const struct align_chapter *chapter, const struct align_options *options,
                           const char *program, FILE *stream, struct error *error);

#endif
