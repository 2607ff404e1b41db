/**
 * @file parallel/agreement.h
 * @brief Whether all ranks were asked the same: each reads a command line, and files, of its own.
 */
#ifndef PARALLEL_AGREEMENT_H
#define PARALLEL_AGREEMENT_H

#include "harness/moe/run.h"
#include "harness/parallel/ranks.h"

/** False, in every rank, naming two whose command lines differ. */
bool arguments_agree(const struct ranks *ranks, int argc, char **argv, struct error *error);

/** False, in every rank, naming two whose problem or routing differs; both may be from files. */
bool inputs_agree(const struct ranks *ranks, const struct moe_layer *layer, struct error *error);

#endif
