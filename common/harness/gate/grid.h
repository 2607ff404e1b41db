/** @file gate_grid.h  A step over a grid of shapes, types, scores, biases and distributions. */
#ifndef GATE_GRID_H
#define GATE_GRID_H

#include "harness/core/error.h"
#include "harness/gate/gate.h"
#include "harness/gate/options.h"
#include "harness/gate/run.h"

/**
 * Runs and checks the step on every problem of the grid that it supports, and writes how many there were. Stops at the
 * first that is not right: returns its result, with the reason and the command that repeats it in `error`.
 */
enum run_result gate_grid(const struct gate_step *step, const struct gate_options *options, const char *program,
                          FILE *stream, struct error *error);

#endif
