/** @file problems_to_try.h  What --check-all runs: shapes, types, distributions, maps, capacities, misalignments. */
#ifndef ALIGN_PROBLEMS_TO_TRY_H
#define ALIGN_PROBLEMS_TO_TRY_H

#include "harness/align/options.h"

/** How much room the ids get. */
enum align_room { ALIGN_ROOM_BOUND, ALIGN_ROOM_EXACT, ALIGN_ROOM_SPARE, NUM_ALIGN_ROOMS };

/**
 * Problem number 0, 1, ..., as options. `room` says what its capacity is to be, once its ids are known. False: there is none of
 * this number, it was the last before it.
 */
bool align_problem_to_try(int number, uint64_t seed, struct align_options *options, enum align_room *room);

#endif
