/** @file problems_to_try.h  What --check-all runs: a grid of shapes, types, scores, biases and distributions. */
#ifndef GATE_PROBLEMS_TO_TRY_H
#define GATE_PROBLEMS_TO_TRY_H

#include "harness/gate/options.h"

/** Problem number 0, 1, ... of the grid, as options. False: there is none of this number, it was the last before it. */
bool gate_problem_to_try(int number, uint64_t seed, struct gate_options *options);

/** False for the few of them that make no sense, or are another one again. */
bool gate_problem_is_worth_trying(const struct gate_options *options);

#endif
