/**
 * @file parallel/agreement.h
 * @brief Checks that all ranks have the same input, because each rank reads its own command line and its own files.
 */
#ifndef PARALLEL_AGREEMENT_H
#define PARALLEL_AGREEMENT_H

#include "harness/moe/run.h"
#include "harness/parallel/ranks.h"

/**
 * Checks that all ranks have the same command line. If they differ, returns false on every rank; the error names two
 * ranks whose command lines differ.
 */
bool ranks_have_same_arguments(const struct rank_context *ranks, int argc, char **argv, struct error *error);

/**
 * Checks that all ranks have the same problem and routing, even if they come from files. If not, returns false in every
 * rank.
 */
bool ranks_have_same_problem_and_routing(const struct rank_context *ranks, const struct moe_layer *layer,
                                         struct error *error);

#endif
